"""The build backend (PEP 517) inside the `rocm` sdist: it chooses the GPU target of the machine it runs on.

`rocm` ships as an sdist so that this code runs where it is installed. It turns the sources beside it into a wheel
whose requirements name the packages of the chosen target. It needs nothing but the standard library: installers can
run it with an index that serves only ROCm packages, or none.

Core metadata other than requirements is copied from PKG-INFO, which the packages' build wrote. There, Requires-Dist and
Provides-Extra have to be listed as Dynamic (metadata 2.2), or installers trust PKG-INFO and never ask.
"""

from __future__ import annotations

import base64
import csv
import gzip
import hashlib
import io
import json
import os
import sys
import tarfile
import zipfile
from dataclasses import asdict
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src"
sys.path.insert(0, str(SOURCE))

from rocm_sdk.detect import Answer, ask_sources, prefer  # noqa: E402
from rocm_sdk.distributions import SELECTED_FILE, Distributions, load_all_distributions  # noqa: E402
from rocm_sdk.targets import Selection, select_target  # noqa: E402

PACKAGE = "rocm_sdk"
ENTRY_POINTS = "[console_scripts]\nrocm-sdk = rocm_sdk.cli:main\n"
WHEEL = "Wheel-Version: 1.0\nGenerator: rocm_build\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)

# Fields of PKG-INFO that this backend computes, or that only an sdist has.
REPLACED_FIELDS = frozenset(("requires-dist", "provides-extra", "dynamic"))


def get_requires_for_build_wheel(config_settings: dict[str, object] | None = None) -> list[str]:
    """PEP 517 hook: nothing is needed."""
    return []


def get_requires_for_build_sdist(config_settings: dict[str, object] | None = None) -> list[str]:
    """PEP 517 hook: nothing is needed."""
    return []


def prepare_metadata_for_build_wheel(metadata_directory: str, config_settings: dict[str, object] | None = None) -> str:
    """PEP 517 hook: write the wheel's metadata directory and return its name."""
    known = load_all_distributions(SOURCE / PACKAGE)
    name = f"{_stem(known)}.dist-info"
    for path, data in _metadata_files(known, choose(known)[0]).items():
        file = Path(metadata_directory, name, path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    return name


def build_wheel(
    wheel_directory: str, config_settings: dict[str, object] | None = None, metadata_directory: str | None = None
) -> str:
    """PEP 517 hook: write the wheel and return its file name. The choice is made anew: same machine, same answer."""
    known = load_all_distributions(SOURCE / PACKAGE)
    selection, answers = choose(known)
    print(f"rocm: target {selection.target}: {selection.reason}")
    files = {f"{PACKAGE}/{path}": data for path, data in _package_files().items()}
    # Installers keep this wheel and use it again, elsewhere too. So what was chosen, and why, goes with it.
    chosen = {**asdict(selection), "sources": [asdict(answer) for answer in answers]}
    files[f"{PACKAGE}/{SELECTED_FILE}"] = (json.dumps(chosen, indent=2) + "\n").encode()
    dist_info = f"{_stem(known)}.dist-info"
    files.update({f"{dist_info}/{path}": data for path, data in _metadata_files(known, selection).items()})
    name = f"{_stem(known)}-py3-none-any.whl"
    _write_wheel(Path(wheel_directory, name), files, f"{dist_info}/RECORD")
    return name


def build_sdist(sdist_directory: str, config_settings: dict[str, object] | None = None) -> str:
    """PEP 517 hook: pack the sources again, the same bytes for the same files, and return the file's name."""
    stem = _stem(load_all_distributions(SOURCE / PACKAGE))
    name = f"{stem}.tar.gz"
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path in _walk(ROOT):
            member = tarfile.TarInfo(f"{stem}/{path.relative_to(ROOT).as_posix()}")
            member.size = path.stat().st_size
            tar.addfile(member, io.BytesIO(path.read_bytes()))
    Path(sdist_directory, name).write_bytes(gzip.compress(packed.getvalue(), mtime=0))
    return name


def choose(known: Distributions) -> tuple[Selection, list[Answer]]:
    """Return the target for this machine, and what told of its GPUs; raises TargetError for an unknown wish."""
    answers, here = ask_sources(), known.on(sys.platform)
    selection = select_target(here.targets, here.default_target, os.environ, prefer(answers), here.members)
    return selection, answers


def requirements(known: Distributions, selection: Selection) -> dict[str, list[str]]:
    """Return what is required, by extra; the key "" has what is always required. All in exactly this version.

    Installers keep the answer, and resolvers ask on one platform for all: what is not there on all has a marker.
    """

    def pin(role: str, target: str) -> str:
        marker = known.marker(role, target)
        return f"{known.packages[role].for_target(target).distribution}=={known.version}{marker and f'; {marker}'}"

    # Where there is no target, there is no package for the machine's own.
    chosen = [role for role, names in known.packages.items() if selection.target or not names.is_per_target]
    pins = {role: pin(role, selection.target) for role in chosen}
    extras = {role: [pin] for role, pin in pins.items() if role not in ("core", "device")}
    role_of_targets = "device" if "device" in known.packages else "libraries"
    per_target = {target: pin(role_of_targets, target) for target in known.target_packages()}
    if role_of_targets == "device":
        if "device" in pins:
            extras["device"] = [pins["libraries"], pins["device"]]
        extras.update({f"device-{target}": [pins["libraries"], pin] for target, pin in per_target.items()})
        extras["device-all"] = [pins["libraries"], *per_target.values()]
    elif per_target:
        extras.update({f"libraries-{target}": [pin] for target, pin in per_target.items()})
        extras["libraries-all"] = list(per_target.values())
    return {"": [pins["core"]], **{name.lower(): pins for name, pins in sorted(extras.items())}}


def metadata(pkg_info: str, wanted: dict[str, list[str]]) -> str:
    """Return METADATA: the text of PKG-INFO with requirements instead of the fields about them."""
    head, blank, description = pkg_info.partition("\n\n")
    kept: list[str] = []
    keep = True
    for line in head.splitlines():
        if not line[:1].isspace():  # a continuation line belongs to the field before it
            keep = line.partition(":")[0].lower() not in REPLACED_FIELDS
        if keep:
            kept.append(line)
    for extra, pins in wanted.items():
        kept += [f"Provides-Extra: {extra}"] if extra else []
        kept += [f"Requires-Dist: {_with_extra(pin, extra)}" for pin in pins]
    return "\n".join(kept) + (blank + description if blank else "\n")


def _with_extra(pin: str, extra: str) -> str:
    """Return a requirement that holds for an extra alone, if one is named."""
    if not extra:
        return pin
    requirement, _, marker = pin.partition("; ")
    own = f"({marker}) and " if " or " in marker else f"{marker} and " if marker else ""
    return f'{requirement}; {own}extra == "{extra}"'


def _metadata_files(known: Distributions, selection: Selection) -> dict[str, bytes]:
    """Return the files of the metadata directory without RECORD, by their path in it."""
    pkg_info = (ROOT / "PKG-INFO").read_text("utf-8")
    fields = [line.partition(":") for line in pkg_info.partition("\n\n")[0].splitlines()]
    versions = [value.strip() for field, _, value in fields if field == "Version"]
    if versions != [known.version]:
        raise RuntimeError(f"PKG-INFO says version {versions}, {PACKAGE} says {known.version}: the sdist is broken")
    licenses = [value.strip() for field, _, value in fields if field == "License-File"]
    return {
        "METADATA": metadata(pkg_info, requirements(known, selection)).encode("utf-8"),
        "WHEEL": WHEEL.encode(),
        "entry_points.txt": ENTRY_POINTS.encode(),
        **{f"licenses/{path}": (ROOT / path).read_bytes() for path in licenses},
    }


def _package_files() -> dict[str, bytes]:
    package = SOURCE / PACKAGE
    return {path.relative_to(package).as_posix(): path.read_bytes() for path in _walk(package)}


def _walk(directory: Path) -> list[Path]:
    """Return the files below, sorted, without Python's caches."""
    return sorted(path for path in directory.rglob("*") if path.is_file() and "__pycache__" not in path.parts)


def _stem(known: Distributions) -> str:
    """Return the start of file names: name and version, escaped as the wheel specification says."""
    return f"rocm-{known.version.replace('-', '_')}"


def _write_wheel(path: Path, files: dict[str, bytes], record: str) -> None:
    """Write a wheel (PEP 427) that depends on nothing but its files; the metadata directory comes last.

    RECORD is written as by `tools/lib/wheel/record.py` of the build: a copy, because an sdist brings its backend along.
    """
    table = io.StringIO()
    rows = csv.writer(table, lineterminator="\n")
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        rows.writerow((name, f"sha256={digest}", len(data)))
    rows.writerow((record, "", ""))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in {**files, record: table.getvalue().encode("utf-8")}.items():
            member = zipfile.ZipInfo(name, ZIP_EPOCH)
            member.compress_type = zipfile.ZIP_DEFLATED
            member.external_attr = 0o100644 << 16
            wheel.writestr(member, data)
