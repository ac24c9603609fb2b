"""Wheels that need an SDK come to require it: what they hold, byte by byte."""

import zipfile
from dataclasses import replace
from email.parser import BytesParser
from io import BytesIO
from pathlib import Path

import pytest
from packaging.utils import parse_wheel_filename

from develop.testing.framework_wheel import (
    BLAS,
    BUNDLES,
    CORE,
    EXPECTS,
    FILES,
    GRAFTED,
    HIP,
    INIT_PY,
    LABEL,
    MATH,
    VERSION,
    content,
    library,
    made,
    math_for,
    run,
    sdk,
)
from develop.testing.wheel_sample import METADATA, Sample
from lib.elf import constants as c
from lib.elf.model import ElfFile
from lib.elf.reader import read_elf
from lib.pack.stand_ins import forwarder
from wheels.require_sdk import tool
from wheels.verify.engine import Request, verify
from wheels.verify.finding import Severity

LOCAL = f"1.0+{LABEL}"
INFO = f"acme-{LOCAL}.dist-info"


def facts(path: Path, name: str) -> ElfFile:
    return read_elf(BytesIO(content(path)[name]), name)


def requirements(path: Path, info: str = INFO) -> list[str]:
    return BytesParser().parsebytes(content(path)[f"{info}/METADATA"]).get_all("Requires-Dist") or []


def errors(paths: list[Path]) -> set[tuple[str, str, str]]:
    """Return the errors that rocm-wheels verify finds in wheels, alone and together."""
    found = verify(paths, Request(processes=1)).judged.findings
    return {(one.id, one.file, one.evidence) for one in found if one.severity is Severity.ERROR}


def test_names_that_are_opened(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A wheel that opened the HIP runtime by name had two of them in one process, and all was said to be proven."""
    source = b"import ctypes\nctypes.CDLL('libhip.so')\nctypes.CDLL('libxhip.so.7')\n# libhip.solution\n"
    assert run(tmp_path, Sample({**EXPECTS.files, "acme/hip.py": source}, name="acme")) == 0
    said = capsys.readouterr().out
    assert "acme/hip.py may open libhip.so by name: not proven, as the machine may have another copy" in said
    assert "or see --init-py: otherwise a process may have two of these libraries" in said
    assert run(tmp_path, EXPECTS) == 0
    assert "by name" not in capsys.readouterr().out


def test_libraries_find_the_sdk(tmp_path: Path) -> None:
    assert run(tmp_path, EXPECTS) == 0
    path = made(tmp_path)
    assert path.name == f"acme-{LOCAL}-py3-none-linux_x86_64.whl"
    kernels = facts(path, "acme/lib/libkernels.so")
    assert kernels.rpath == "$ORIGIN:$ORIGIN/../../_sdk_math/lib:$ORIGIN/../../_sdk_core/lib"
    assert kernels.needed == ("libblas.so.5", "libhip.so.7", "libc.so.6")
    assert facts(path, f"acme-{LOCAL}.data/platlib/acme_more.so").rpath == "$ORIGIN/_sdk_core/lib"
    assert requirements(path) == [f"sdk-core=={VERSION}", f"sdk-math=={VERSION}"]
    assert not {one for one in errors([path, tmp_path / "sdk"]) if one[1] in FILES}


def test_libraries_of_the_machine_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What METADATA requires of the system counts as well; rocm-wheels verify reads it there, too."""
    files = {**FILES, "acme/gui.so": library(None, ["libdrm.so.2", "libtorch_hip.so", "libhip.so.7"])}
    metadata = METADATA.replace("Summary", "Requires-External: libnuma.so.1\nSummary")
    files["acme/numa.so"] = library(None, ["libnuma.so.1"])
    sample = Sample(files, name="acme", metadata=metadata)
    assert run(tmp_path, sample, "--externals=libdrm.so.*", "--externals=libtorch*", "--externals=libunused.so") == 0
    assert "left to users' machines and other packages: libdrm.so.2, libtorch_hip.so\n" in capsys.readouterr().out
    text = BytesParser().parsebytes(content(made(tmp_path))[f"{INFO}/METADATA"])
    assert text.get_all("Requires-External") == ["libnuma.so.1", "libdrm.so.2", "libtorch_hip.so"]
    assert not {one for one in errors([made(tmp_path), tmp_path / "sdk"]) if one[1] in files}


def test_systems_with_the_platform_tag_have_more(tmp_path: Path) -> None:
    files = {**FILES, "acme/x.so": library(None, ["libX11.so.6"])}
    assert run(tmp_path / "plain", Sample(files, name="acme")) == 1
    assert run(tmp_path, Sample(files, name="acme", tag="py3-none-manylinux_2_28_x86_64")) == 0


def test_an_own_library_that_was_loaded_under_its_soname(tmp_path: Path) -> None:
    """No file is called `libown.so.1`; what loads `user.so` has loaded the library before."""
    files = {
        **FILES,
        "acme/libown.so": library("libown.so.1"),
        "acme/libuser.so": library("libuser.so", ["libown.so.1", "libhip.so.7"]),
        "acme/first.so": library(None, ["libown.so", "libuser.so"], rpath="$ORIGIN"),
    }
    assert run(tmp_path, Sample(files, name="acme")) == 0


def test_a_soname_is_not_a_file(tmp_path: Path) -> None:
    """The loader finds no file `libhip.so.7` in the wheel, so the SDK's library serves."""
    files = {**FILES, "acme/libhip.so": library("libhip.so.7", symbols=HIP)}
    assert run(tmp_path, Sample(files, name="acme")) == 0
    assert "$ORIGIN/_sdk_core/lib" in str(facts(made(tmp_path), f"acme-{LOCAL}.data/platlib/acme_more.so").rpath)


def test_what_was_done_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, EXPECTS) == 0
    said = capsys.readouterr().out
    for part in (
        f"requires sdk-core=={VERSION}, sdk-math=={VERSION}\n",
        "files that need the SDK: 2; symbols that it supplies: 3\n",
        "acme/lib/libkernels.so: needs libblas.so.5, libhip.so.7\n",
        "without search path entries that depend on the machine: '/opt/sdk/lib'\n",
    ):
        assert part in said
    text = content(made(tmp_path))[f"{INFO}/METADATA"].decode()
    assert f"This wheel was made by rocm-wheels require-sdk from {EXPECTS.filename} (SHA-256 " in text


def test_copies_are_reported_and_stay(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sample = Sample({**BUNDLES.files, "acme/more.so": library(None, ["libllvm.so.20"])}, name="acme")
    assert run(tmp_path, sample, "--take=libllvm.so.*") == 0
    said = capsys.readouterr().out
    core = f"a copy of _sdk_core/lib/libhip.so.7 of {CORE.filename}"
    size = len(BUNDLES.files[f"acme.libs/{GRAFTED}"]) / 1000
    assert f"bundled acme.libs/{GRAFTED} ({size:.2f} kB), {core}: stays: --drop-bundled leaves it out\n" in said
    assert "bundled acme.libs/libblas.so.5 (" in said
    files = content(made(tmp_path))
    assert all(files[name] == data for name, data in BUNDLES.files.items())
    assert facts(made(tmp_path), "acme/more.so").rpath == "$ORIGIN/../_sdk_core/lib/llvm/lib"
    assert requirements(made(tmp_path)) == [f"sdk-core=={VERSION}"]


def test_copies_can_be_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, BUNDLES, "--drop-bundled") == 0
    path = made(tmp_path)
    gone = {f"acme.libs/{GRAFTED}", "acme.libs/libblas.so.5"}
    names = {name.replace("acme-1.0.d", f"acme-{LOCAL}.d") for name in BUNDLES.members()}
    assert content(path).keys() == names - gone
    extension = facts(path, "acme/_ext.so")
    assert extension.needed == ("libhip.so.7", "libblas.so.5", "libc.so.6")
    assert extension.rpath == "$ORIGIN/../acme.libs:$ORIGIN/../_sdk_core/lib:$ORIGIN/../_sdk_math/lib"
    assert facts(path, "acme.libs/libold.so.1").needed == ("libhip.so.7", "libc.so.6")
    assert not errors([path, tmp_path / "sdk"])
    said = capsys.readouterr().out
    assert f"{GRAFTED} is now libhip.so.7" in said
    assert said.count(": left out\n") == 2


@pytest.mark.parametrize(
    ("files", "options", "reason"),
    [
        ({"acme/load.py": f'open("../acme.libs/{GRAFTED}")\n'.encode()}, (), "acme/load.py names it, and may open it"),
        ({}, ("--leave=libhip.so*",), "--leave names it"),
        ({}, (f"--leave={GRAFTED}",), "--leave names it"),
    ],
)
def test_copies_that_stay_for_a_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], files: dict[str, bytes], options: tuple[str, ...], reason: str
) -> None:
    assert run(tmp_path, Sample({**BUNDLES.files, **files}, name="acme"), "--drop-bundled", *options) == 0
    assert f"stays: {reason}\n" in capsys.readouterr().out
    path = made(tmp_path)
    assert f"acme.libs/{GRAFTED}" in content(path)
    assert "acme.libs/libblas.so.5" not in content(path)
    assert facts(path, "acme/_ext.so").needed[:2] == (GRAFTED, "libblas.so.5")


def test_a_copy_with_another_soname_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {**FILES, "acme.libs/libhip.so.6": library("libhip.so.6", symbols=HIP)}
    assert run(tmp_path, Sample(files, name="acme"), "--drop-bundled") == 0
    assert (
        "a kind of libhip.so.7: stays: the SDK has libhip.so.7, and this is another SONAME" in capsys.readouterr().out
    )
    assert "acme.libs/libhip.so.6" in content(made(tmp_path))


def test_equal_wheels_give_equal_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    results = []
    for folder in ("one", "other/deeper"):
        assert run(tmp_path / folder, BUNDLES, "--drop-bundled") == 0
        results.append(made(tmp_path / folder).read_bytes())
    assert results[0] == results[1]
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    assert run(tmp_path / "one", BUNDLES, "--drop-bundled") == 0
    with zipfile.ZipFile(made(tmp_path / "one")) as archive:
        assert {info.date_time for info in archive.infolist()} == {(2023, 11, 14, 22, 13, 20)}


def test_a_second_time_nothing_is_added(tmp_path: Path) -> None:
    assert run(tmp_path, EXPECTS, "--local-version=sdk7") == 0
    first = made(tmp_path)
    assert first.name.startswith("acme-1.0+sdk7-")
    arguments = [str(first), f"--sdk={tmp_path / 'sdk'}", f"--output={tmp_path / 'again'}"]
    assert tool.main(arguments, INIT_PY) == 0
    [second] = (tmp_path / "again").glob("*.whl")
    assert second.name.startswith(f"acme-1.0+sdk7.{LABEL}-")
    one, other = content(first), content(second)
    assert one["acme/lib/libkernels.so"] == other["acme/lib/libkernels.so"]
    assert requirements(second, f"acme-1.0+sdk7.{LABEL}.dist-info") == requirements(first, "acme-1.0+sdk7.dist-info")


def test_the_wheel_for_the_newer_sdk_is_newer(tmp_path: Path) -> None:
    """`1.0+sdk7.15.0` was newer than `1.0+sdk10.1.0`: installers went back to the old SDK."""
    versions = []
    for version in ("7.15.0.dev0", "7.15.0rc10", "7.15.0", "10.1.0a20261001", "10.1.0"):
        folder = tmp_path / version
        sdk(folder, Sample(CORE.files, name="sdk_core", version=version))
        files = {"acme/hip.so": library(None, ["libhip.so.7"])}
        assert run(folder, Sample(files, name="acme")) == 0
        versions.append(parse_wheel_filename(made(folder).name)[1])
    assert versions == sorted(versions)


def test_a_wheel_for_one_gpu_stays_one(tmp_path: Path) -> None:
    """`split` makes such a wheel. The end of its version says the GPU: what is installed where goes by that."""
    assert (
        run(
            tmp_path,
            Sample({"acme/a.so": library(None, ["libhip.so.7"])}, name="acme", version="1.0+rocm7.gfx110x.all"),
        )
        == 0
    )
    assert made(tmp_path).name == f"acme-1.0+rocm7.{LABEL}.gfx110x.all-py3-none-linux_x86_64.whl"


def test_packages_for_several_gpus(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The wheel takes the packages for its own GPU, or for the named GPU."""
    sdk(tmp_path, CORE, math_for("gfx942"), math_for("gfx1100"))
    assert run(tmp_path, EXPECTS, "--device=gfx942") == 0
    assert requirements(made(tmp_path)) == [f"sdk-core=={VERSION}", f"sdk-math-gfx942=={VERSION}"]
    assert "device code: sdk-math-gfx942 has it for gfx942, because --device=gfx942 asks" in capsys.readouterr().out
    files = {**FILES, "acme/x_gfx1100.co": b"tables"}
    assert run(tmp_path, Sample(files, name="acme")) == 0
    assert requirements(made(tmp_path)) == [f"sdk-core=={VERSION}", f"sdk-math-gfx1100=={VERSION}"]
    assert "for gfx1100, because the wheel's own device code is for gfx1100\n" in capsys.readouterr().out
    files = {"acme/hip.so": library(None, ["libhip.so.7"])}
    assert run(tmp_path, Sample(files, name="acme")) == 0
    assert requirements(made(tmp_path)) == [f"sdk-core=={VERSION}"]


@pytest.mark.parametrize(
    ("version", "files"), [("1.0+gfx110x.all", {}), ("1.0", {"acme/x_gfx1100.co": b"x", "acme/x_gfx1101.co": b"x"})]
)
def test_packages_for_several_families(tmp_path: Path, version: str, files: dict[str, bytes]) -> None:
    sdk(tmp_path, CORE, math_for("gfx110X_all"), math_for("gfx94X_dcgpu", 1000))
    acme = {"acme/a.so": library(None, ["libblas.so.5"]), **files}
    assert run(tmp_path, Sample(acme, name="acme", version=version)) == 0
    info = made(tmp_path).name.replace("-py3-none-linux_x86_64.whl", ".dist-info")
    assert requirements(made(tmp_path), info) == [f"sdk-math-gfx110x-all=={VERSION}"]


def test_a_private_copy_in_a_package_for_one_gpu(tmp_path: Path) -> None:
    math = math_for("gfx942")
    private = {**math.files, "_sdk_math_gfx942/lib/private/libhip.so.7": library("libhip.so.7")}
    sdk(tmp_path, CORE, Sample(private, name=math.name, version=VERSION, metadata=math.metadata))
    assert run(tmp_path, EXPECTS) == 0
    assert requirements(made(tmp_path)) == [f"sdk-core=={VERSION}", f"sdk-math-gfx942=={VERSION}"]


def test_private_libraries_of_two_packages(tmp_path: Path) -> None:
    """Each package finds its own: the names mean nothing to others."""
    core, math = (
        {
            f"{tree}/lib/{name}": library(name, [*needed, "libz.so.1"], symbols, rpath=f"$ORIGIN/private:{rpath}"),
            f"{tree}/lib/private/libz.so.1": library("libz.so.1", symbols=(tree,)) + bytes(more),
        }
        for tree, name, needed, symbols, rpath, more in (
            ("_sdk_core", "libhip.so.7", [], HIP, "", 0),
            ("_sdk_math", "libblas.so.5", ["libhip.so.7"], BLAS, "$ORIGIN/../../_sdk_core/lib", 1000),
        )
    )
    sdk(tmp_path, replace(CORE, files=core), replace(MATH, files=math))
    assert run(tmp_path, EXPECTS) == 0
    assert requirements(made(tmp_path)) == [f"sdk-core=={VERSION}", f"sdk-math=={VERSION}"]


def test_wheel_variants_of_the_selector(tmp_path: Path) -> None:
    """They have no libraries: that there are several is nothing to stop for."""
    selector = Sample(name="sdk", version=VERSION, tag="py3-none-any")
    folder = sdk(tmp_path, CORE, MATH, selector)
    for label in ("gfx942", "gfx1100"):
        (folder / selector.filename.replace(".whl", f"-{label}.whl")).write_bytes(selector.build())
    assert run(tmp_path, EXPECTS) == 0


def test_another_specifier(tmp_path: Path) -> None:
    assert run(tmp_path, EXPECTS, "--specifier=>=7.10.dev0,<7.11") == 0
    assert requirements(made(tmp_path)) == ["sdk-core<7.11,>=7.10.dev0", "sdk-math<7.11,>=7.10.dev0"]


def test_a_module_that_loads_the_libraries(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, EXPECTS, "--init-py=acme") == 0
    text = f"NEEDED = ['libblas.so.5', 'libhip.so.7']\nVERSION = '{VERSION}'\n"
    assert content(made(tmp_path))["acme/_sdk_init.py"].decode() == text
    assert requirements(made(tmp_path))[0] == f"sdk=={VERSION}"
    assert "acme/_sdk_init.py: call its initialize()" in capsys.readouterr().out


def test_of_several_libraries_with_one_name_the_outermost_counts(tmp_path: Path) -> None:
    other = Sample({"_sdk_more/private/lib/libhip.so.7": library("libhip.so.7")}, name="another", version="1.0")
    sdk(tmp_path, CORE, MATH, other)
    assert run(tmp_path, EXPECTS) == 0
    assert requirements(made(tmp_path)) == [f"sdk-core=={VERSION}", f"sdk-math=={VERSION}"]


def test_forwarders_and_wheels_for_windows_do_not_count(tmp_path: Path) -> None:
    small = {"_sdk_a/lib/libhip.so.7": forwarder("libhip.so.7", "../../_sdk_core/lib/libhip.so.7", c.EM_X86_64)}
    windows = Sample(CORE.files, name="sdk_core", version=VERSION, tag="py3-none-win_amd64")
    sdk(tmp_path, CORE, MATH, Sample(small, name="sdk_a", version=VERSION), windows)
    assert run(tmp_path, EXPECTS) == 0
    assert requirements(made(tmp_path)) == [f"sdk-core=={VERSION}", f"sdk-math=={VERSION}"]


def test_a_library_of_two_packages_that_is_the_same(tmp_path: Path) -> None:
    other = Sample({"_zoo/lib/libhip.so.7": CORE.files["_sdk_core/lib/libhip.so.7"]}, name="zoo", version="3.0")
    sdk(tmp_path, CORE, MATH, other)
    assert run(tmp_path, EXPECTS) == 0
    assert requirements(made(tmp_path)) == [f"sdk-core=={VERSION}", f"sdk-math=={VERSION}"]


def test_libraries_that_are_needed_by_their_paths(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Linkers write such a path for a library without a SONAME: the process had that library, and the SDK's."""
    path = "/opt/sdk/lib/libhip.so.7"
    files = {"acme/a.so": library(None, [path, "libblas.so.5", "/opt/x/libmine.so"]), "acme/libmine.so": library(None)}
    assert run(tmp_path, Sample(files, name="acme")) == 1
    lost = "acme/a.so needs /opt/x/libmine.so, and neither the wheel, nor --sdk, nor every system with its platform tag"
    assert lost in capsys.readouterr().err
    external = "--externals=/opt/x/libmine.so"
    assert run(tmp_path, Sample(files, name="acme"), external) == 0
    assert facts(made(tmp_path), "acme/a.so").needed[:3] == ("libhip.so.7", "libblas.so.5", "/opt/x/libmine.so")
    said = capsys.readouterr().out
    assert f"{path} is now libhip.so.7\n" in said
    assert "left to users' machines and other packages: /opt/x/libmine.so\n" in said
    assert run(tmp_path / "left", Sample(files, name="acme"), "--leave=libhip.so*", external) == 0
    assert facts(made(tmp_path / "left"), "acme/a.so").needed[0] == path


def test_private_libraries_of_the_sdk_are_not_for_everybody(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {**FILES, "acme/cpu.so": library(None, ["libgomp.so.1"])}
    assert run(tmp_path, Sample(files, name="acme")) == 1
    assert "--sdk has it in a deeper directory; --take=libgomp.so.1 uses it\n" in capsys.readouterr().err
    assert run(tmp_path, Sample(files, name="acme"), "--externals=libgomp.so.*") == 0
    assert content(made(tmp_path))["acme/cpu.so"] == files["acme/cpu.so"]


def test_what_was_grafted_for_copies_alone_goes_with_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    drm, numa, elf = "libdrm-0123abcd.so.2", "libnuma-0123abcd.so.1", "libelf-0123abcd.so.1"
    files = {
        **BUNDLES.files,
        f"acme.libs/{GRAFTED}": library(GRAFTED, [drm, elf, "libplain.so.1"], HIP),
        f"acme.libs/{drm}": library(drm, [numa]),
        f"acme.libs/{numa}": library(numa),
        f"acme.libs/{elf}": library(elf),
        "acme.libs/libplain.so.1": library("libplain.so.1"),
        "acme/user.so": library(None, [elf], rpath="$ORIGIN/../acme.libs"),
    }
    assert run(tmp_path, Sample(files, name="acme"), "--drop-bundled") == 0
    kept = {name.rpartition("/")[2] for name in content(made(tmp_path)) if name.startswith("acme.libs/")}
    assert kept == {elf, "libplain.so.1", "libold.so.1"}
    assert f"bundled acme.libs/{numa} (" in (said := capsys.readouterr().out)
    assert said.count(", which only copies need that are left out: left out\n") == 2
    assert not errors([made(tmp_path), tmp_path / "sdk"])
