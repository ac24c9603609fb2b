"""A tiny set of ROCm packages, made as the project's build makes real ones: wheels, devel archive and `rocm` sdist.

The library is a copy of a library that the test's interpreter has loaded, so that it is real and needs no compiler.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import shutil
import tarfile
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

PACKAGES = Path(__file__).parent.parent.parent
VERSION = "7.10.0.dev0"
TARGETS = ("gfx1100", "gfx942")
FAMILIES = ("gfx110X-all", "gfx94X-dcgpu")
THIN_TARGETS = ("gfx90a", "gfx1030")
#: Targets by layout, the default first. Except in the layout `split`, each has a libraries package.
TARGETS_OF_LAYOUT = {"split": TARGETS, "family": FAMILIES, "thin": THIN_TARGETS}
SCRIPT = b'#!/bin/sh\necho "$0" "$@"\n'


@dataclass(frozen=True)
class FakeSdk:
    """A directory of distributions that serves as an index, and what is in it."""

    index: Path
    layout: str
    version: str = VERSION

    @property
    def rocm(self) -> str:
        """The requirement for `rocm`, the distribution that chooses and requires the others."""
        return f"rocm=={self.version}"


@dataclass(frozen=True)
class Devel:
    """What a devel package has below its tree: files, and links by their texts. An `archive` has the files if named."""

    files: dict[str, bytes]
    links: dict[str, str] = field(default_factory=dict)
    archive: str = ""
    tree: str = "_rocm_sdk_devel"

    def members(self, version: str, package: str = "rocm_sdk_devel", trees: tuple[str, ...] = ()) -> dict[str, bytes]:
        """Return the members of the wheel."""
        facts = {"tree": self.tree, "trees": trees, **({"files": sorted(self.files)} if self.archive else {})}
        about = {
            f"{package}/.devel_links/devel.json": links_manifest(version, self.links, **facts),
            f"{package}/.devel_links/devel.journal": b"",
        }
        placed = {f"{self.tree}/{path}": data for path, data in self.files.items()}
        if not self.archive:
            return {**about, **placed}
        stream = io.BytesIO()
        with tarfile.open(fileobj=stream, mode="w") as tar:
            for path, data in placed.items():
                member = tarfile.TarInfo(path)
                member.size, member.mode = len(data), 0o755 if "/bin/" in path else 0o644
                tar.addfile(member, io.BytesIO(data))
        return {**about, f"{package}/{self.archive}": stream.getvalue()}


def links_manifest(version: str, links: dict[str, str], **facts: object) -> bytes:
    """Return a manifest of links, as the build writes it."""
    listed = [{"relpath": path, "target": text} for path, text in sorted(links.items())]
    return json.dumps({"version": version, **facts, "links": listed}).encode()


def target_manifest(version: str, distribution: str, files: dict[str, bytes]) -> dict[str, bytes]:
    """Return the manifest of a package per GPU target, which has links to all its `files`, and its path."""
    tree = next(iter(files)).partition("/")[0]
    paths = [path.partition("/")[2] for path in files]
    links = {path: "../" * (path.count("/") + 1) + f"{tree}/{path}" for path in paths}
    return {f"{tree}/.devel_links/{distribution}.json": links_manifest(version, links)}


def make_sdk(root: Path, *, layout: str, version: str = VERSION, devel: Devel | None = None) -> FakeSdk:
    """Write all distributions of one version into `root`/index."""
    index = root / "index"
    index.mkdir(parents=True)
    write_core(index, version)
    write_profiler(index, version)
    library = shared_library()
    if layout == "split":
        tree = "_rocm_sdk_libraries"
        files = {f"{tree}/lib/libhipblas.so.2": library, f"{tree}/lib/libMIOpen.so.1": library}
        write_wheel(index, "rocm-sdk-libraries", version, {**glue("libraries", "rocm_sdk_libraries", version), **files})
        for target in TARGETS:
            data = {
                f"{tree}/lib/rocblas/library/Kernels_{target}.co": target.encode(),
                f"{tree}/.kpack/blas_lib_{target}.kpack": b"KPAK" + target.encode(),
            }
            data.update(target_manifest(version, f"rocm-sdk-device-{target}", data))
            requires = (f"rocm-sdk-libraries=={version}",)
            write_wheel(index, f"rocm-sdk-device-{target}", version, data, requires=requires)
    else:
        for target in TARGETS_OF_LAYOUT[layout]:
            name = "rocm_sdk_libraries_" + target.replace("-", "_")
            files = {f"_{name}/lib/libhipblas.so.2": library, f"_{name}/lib/{target}.co": target.encode()}
            files.update(target_manifest(version, f"rocm-sdk-libraries-{target}", files))
            write_wheel(index, f"rocm-sdk-libraries-{target}", version, {**glue("libraries", name, version), **files})
    write_devel(index, version, devel if devel is not None else small_devel(layout), layout)
    write_sdist(index, layout, version)
    return FakeSdk(index, layout, version)


def small_devel(layout: str, archive: str = "") -> Devel:
    """Return a devel package with every kind of file and link."""
    files = {
        "__init__.py": b'"""A tree."""\n',
        "include/hip.h": b"// hip\n",
        'include/a, "b".h': b"data\n",
        "lib/ï.h": b"data\n",
        "lib/cmake/hip/hip-config.cmake": b"data\n",
        "bin/tool.sh": SCRIPT,
    }
    links = {
        "lib/libamdhip64.so.5": "../../_rocm_sdk_core/lib/libamdhip64.so.5",
        "lib/libamdhip64.so": "libamdhip64.so.5",
        "llvm": "lib/llvm",
        "bin/hipcc": "../../_rocm_sdk_core/bin/hipcc",
        "bin/hipcc-7": "hipcc",
        "lib/llvm/bin/amdclang": "../../../../_rocm_sdk_core/lib/llvm/bin/amdclang",
        "lib/libhipblas.so": "libhipblas.so.2",  # It leads nowhere until the libraries are installed.
    }
    if layout == "split":
        links["lib/libhipblas.so.2"] = "../../_rocm_sdk_libraries/lib/libhipblas.so.2"
    return Devel(files, links, archive)


def write_core(index: Path, version: str) -> None:
    """Write the core wheel, with three tools that print how they were called."""
    tree = "_rocm_sdk_core"
    library, scripts = shared_library(), ("amdclang", "hipcc", "rocminfo")
    files = {
        **glue("core", "rocm_sdk_core", version),
        f"{tree}/lib/libamdhip64.so.5": library,
        f"{tree}/lib/rocm_sysdeps/lib/librocm_sysdeps_liblzma.so.5": library,
        f"{tree}/lib/llvm/bin/amdclang": SCRIPT,
        f"{tree}/bin/hipcc": SCRIPT,
        f"{tree}/bin/rocminfo": SCRIPT,
    }
    functions = {name: f"rocm_sdk_core._cli:{name}" for name in scripts}
    write_wheel(index, "rocm-sdk-core", version, files, scripts=functions)


def write_profiler(index: Path, version: str) -> None:
    """Write the profiler wheel, with a tool that prints its search paths."""
    script = b'#!/bin/sh\necho "$LD_LIBRARY_PATH|$PYTHONPATH|$*"\n'
    files = {
        **glue("profiler", "rocm_profiler", version),
        "_rocm_profiler/bin/rocprof-sys-run": script,
        "_rocm_profiler/lib/libx.so": b"",
        "_rocm_profiler/libexec/rocprofiler-compute/x.py": b"",
    }
    scripts = {"rocprof-sys-run": "rocm_profiler._cli:rocprof_sys_run"}
    write_wheel(index, "rocm-profiler", version, files, scripts=scripts)


def write_devel(index: Path, version: str, devel: Devel, layout: str = "split") -> None:
    """Write the devel wheel."""
    trees = {
        "split": ("_rocm_sdk_libraries",),
        "family": ("_rocm_sdk_libraries_gfx110X_all", "_rocm_sdk_libraries_gfx94X_dcgpu"),
        "thin": ("_rocm_sdk_libraries_gfx1030", "_rocm_sdk_libraries_gfx90a"),
    }
    files = {**glue("devel", "rocm_sdk_devel", version), **devel.members(version, trees=trees[layout])}
    write_wheel(index, "rocm-sdk-devel", version, files)


def write_sdist(index: Path, layout: str, version: str) -> Path:
    """Write the `rocm` sdist from the sources in this project, as the build does, and return its path."""
    stem = f"rocm-{version}"
    with tarfile.open(index / f"{stem}.tar.gz", "w:gz", format=tarfile.PAX_FORMAT) as tar:
        for name, data in sdist_files(layout, version).items():
            member = tarfile.TarInfo(f"{stem}/{name}")
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return index / f"{stem}.tar.gz"


def sdist_files(layout: str, version: str = VERSION) -> dict[str, bytes]:
    """Return the files of the `rocm` sdist by their path in it."""
    rocm = PACKAGES / "rocm"
    sources = sorted(path for part in ("src", "backend") for path in (rocm / part).rglob("*") if path.is_file())
    kept = [path for path in sources if "__pycache__" not in path.parts]
    files = {path.relative_to(rocm).as_posix(): path.read_bytes() for path in kept}
    files["pyproject.toml"] = (rocm / "pyproject.toml").read_bytes()
    files["LICENSE"] = b"A licence\n"
    files["PKG-INFO"] = (
        f"Metadata-Version: 2.4\nName: rocm\nVersion: {version}\nSummary: ROCm\nLicense-Expression: Apache-2.0\n"
        "License-File: LICENSE\nRequires-Python: >=3.9\nDynamic: Requires-Dist\nDynamic: Provides-Extra\n\n# ROCm\n"
    ).encode()
    files["src/rocm_sdk/_distributions.json"] = json.dumps(distributions(layout, version)).encode()
    return files


def sdk_source() -> Path:
    """Return the directory of the runtime's sources."""
    return PACKAGES / "rocm" / "src" / "rocm_sdk"


def distributions(layout: str, version: str = VERSION) -> dict[str, object]:
    """Return the contents of `_distributions.json`."""
    suffix = ("", "") if layout == "split" else ("-{target}", "_{target}")
    packages = {
        "core": _names("rocm-sdk-core", "rocm_sdk_core"),
        "libraries": _names(f"rocm-sdk-libraries{suffix[0]}", f"rocm_sdk_libraries{suffix[1]}"),
        "device": {"distribution": "rocm-sdk-device-{target}", "tree": "_rocm_sdk_libraries"},
        "devel": _names("rocm-sdk-devel", "rocm_sdk_devel"),
        "profiler": _names("rocm-profiler", "rocm_profiler"),
    }
    if layout != "split":
        del packages["device"]
    targets = TARGETS_OF_LAYOUT[layout]
    return {
        "version": version,
        "layout": layout,
        "targets": list(targets),
        "default_target": targets[0],
        "packages": packages,
    }


def _names(distribution: str, import_name: str) -> dict[str, str]:
    return {"distribution": distribution, "import": import_name, "tree": f"_{import_name}"}


def glue(package: str, name: str, version: str = VERSION) -> dict[str, bytes]:
    """Return the Python code of a package, as wheel members: the import package `name`, and its tree's own."""
    source = next((PACKAGES / package / "src").iterdir())
    paths = sorted(path for path in source.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    files = {f"{name}/{path.relative_to(source).as_posix()}": path.read_bytes() for path in paths}
    files[f"{name}/_version.py"] = f'__version__ = "{version}"\n'.encode()
    return files if package == "devel" else {**files, f"_{name}/__init__.py": b'"""A tree."""\n'}


def write_wheel(
    index: Path,
    distribution: str,
    version: str,
    files: dict[str, bytes],
    *,
    requires: tuple[str, ...] = (),
    scripts: dict[str, str] | None = None,
) -> Path:
    """Write a wheel; members below `bin/` of a tree are executable.

    Each tree gets a file of the package's own at its top: pip removes a directory whole if RECORD lists a file
    directly in it, else it leaves empty directories above those that it empties.
    """
    stem = f"{distribution.replace('-', '_')}-{version}"
    info = f"{stem}.dist-info"
    needs = "".join(f"Requires-Dist: {requirement}\n" for requirement in requires)
    points = "".join(f"{name} = {function}\n" for name, function in (scripts or {}).items())
    trees = sorted({name.partition("/")[0] for name in files if name.startswith("_")})
    members = {
        **files,
        **{f"{tree}/.{distribution}": b"" for tree in trees},
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n{needs}".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: false\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": f"[console_scripts]\n{points}".encode(),
    }
    record = io.StringIO(newline="")
    rows = [(name, f"sha256={_digest(data)}", len(data)) for name, data in members.items()]
    csv.writer(record).writerows([*rows, (f"{info}/RECORD", "", "")])
    members[f"{info}/RECORD"] = record.getvalue().encode()
    path = index / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for name, data in members.items():
            member = zipfile.ZipInfo(name)
            member.external_attr = (0o100755 if "/bin/" in name else 0o100644) << 16
            wheel.writestr(member, data)
    return path


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def shared_library() -> bytes:
    """Return the bytes of a shared library that loads anywhere: the C library's mathematics."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        path = Path(line.split(maxsplit=5)[-1])
        if path.name.startswith(("libm.so", "libm-")):
            return path.read_bytes()
    raise RuntimeError("the interpreter has no libm.so loaded, which the tests copy as a library of the SDK")


def copy_index(sdk: FakeSdk, destination: Path) -> FakeSdk:
    """Return an SDK whose index can be changed."""
    shutil.copytree(sdk.index, destination)
    return FakeSdk(destination, sdk.layout, sdk.version)
