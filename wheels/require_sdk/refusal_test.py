"""Wheels that do not fit the SDK: one message that says why and what to do, and nothing is written."""

from pathlib import Path

import pytest

from develop.testing.framework_wheel import (
    BLAS,
    BUNDLES,
    CORE,
    EXPECTS,
    FILES,
    GRAFTED,
    HIP,
    INIT_PY,
    MATH,
    library,
    made,
    math_for,
    run,
    sdk,
    written,
)
from develop.testing.wheel_sample import METADATA, Sample
from wheels.require_sdk import proof, tool

LOST = library(None, ["librocm_sysdeps_z.so.1", "libMIOpen.so.1"])


def refused(folder: Path, sample: Sample, capsys: pytest.CaptureFixture[str], *options: str, code: int = 1) -> str:
    """Return what the command says; it must fail, and leave nothing behind."""
    assert run(folder, sample, *options) == code
    assert not (folder / "out").exists()
    said = capsys.readouterr()
    assert (said.out, said.err[:25]) == ("", "rocm-wheels require-sdk: ")
    return said.err


def acme(name: str, data: bytes) -> Sample:
    """Return the wheel with one more file."""
    return Sample({**FILES, name: data}, name="acme")


@pytest.mark.parametrize(
    ("sample", "message"),
    [
        (Sample(), "none of its programs and libraries needs a library that the wheels of --sdk have"),
        (BUNDLES, "has its own copies, such as acme.libs/libblas.so.5, a copy of libblas.so.5"),
        (
            acme("acme/new.so", library(None, ["libhip.so.8"])),
            "built with another version of the SDK:\n  acme/new.so needs libhip.so.8, and the SDK has libhip.so.7\n",
        ),
        (
            acme("acme/new.so", library(None, ["/opt/rocm.d/libhip-1a2b3c4d.so.8"])),
            "acme/new.so needs /opt/rocm.d/libhip-1a2b3c4d.so.8, and the SDK has libhip.so.7\n",
        ),
        (
            acme("acme/new.so", library(None, ["libhip.so.7"], undefined=["_ZN4acme7unknownEv", "Py_None"])),
            "acme/new.so needs _ZN4acme7unknownEv, and none of libhip.so.7 has it",
        ),
        (
            acme("acme/new.so", library(None, ["libhip.so.7"], undefined=["hipNew"])),
            "acme/new.so needs hipNew, and none of libhip.so.7 has it",
        ),
        (
            acme("acme/new.so", library(None, ["libhip.so.7", "librocsolver.so.0", "libLLVM.so.23.0git"])),
            "acme/new.so needs librocsolver.so.0, and neither the wheel, nor --sdk, nor every system with its platform",
        ),
        (
            Sample({**FILES, **dict.fromkeys(("acme/a.so", "acme/b.so", "acme/c.so"), LOST)}, name="acme"),
            "acme/a.so and 2 more need libMIOpen.so.1, and neither the wheel, nor --sdk, nor every system with",
        ),
        (
            acme("acme/new.so", LOST),
            "packages have these libraries: --externals=libMIOpen.so.1 --externals=librocm_sysdeps_z.so.1. If",
        ),
        (
            Sample(
                {
                    **FILES,
                    "acme/libown.so": library("libown.so.1"),
                    "acme/new.so": library(None, ["libhip.so.7", "libown.so.1"], rpath="$ORIGIN"),
                },
                name="acme",
            ),
            "acme/new.so needs libown.so.1, and neither the wheel, nor --sdk, nor",
        ),
        (
            Sample(
                {
                    **FILES,
                    "acme/lib/libown.so.1": library("libown.so.1"),
                    "acme/new.so": library(None, ["libhip.so.7", "libown.so.1"]),
                },
                name="acme",
            ),
            "acme/new.so needs libown.so.1, and no search path leads to acme/lib/libown.so.1",
        ),
        (
            Sample(FILES, name="acme", metadata=METADATA.replace("Summary", "Requires-Dist: sdk_core<7\nSummary")),
            "METADATA requires sdk_core<7, and --sdk has version 7.10.0.dev0",
        ),
        (
            Sample(
                FILES,
                name="acme",
                metadata=METADATA.replace("Summary", 'Requires-Dist: sdk_core<7; os_name == "posix"\nSummary'),
            ),
            'METADATA requires sdk_core<7; os_name == "posix", and --sdk has version 7.10.0.dev0',
        ),
    ],
)
def test_wheels_that_do_not_fit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], sample: Sample, message: str
) -> None:
    assert message in refused(tmp_path, sample, capsys)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--specifier=>=8",), "--specifier=>=8: does not accept sdk-core 7.10.0.dev0"),
        (("--take=libx*",), "--take=libx*: matches no library of the SDK"),
        (("--specifier=new",), "--specifier=new: expected a version specifier"),
        (("--local-version=a/b",), "--local-version=a/b: expected letters and digits"),
        ((f"--local-version={5000 * '9'}",), ": expected letters and digits"),
        ((f"--specifier=>={5000 * '9'}",), ": expected a version specifier"),
        (
            ("--init-py=other",),
            "--init-py=other: is not an import package of acme-1.0-py3-none-linux_x86_64.whl; it has acme",
        ),
    ],
)
def test_options_that_do_not_fit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], message: str
) -> None:
    assert message in refused(tmp_path, EXPECTS, capsys, *options, code=2)


def test_a_module_that_is_there_already(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = refused(tmp_path, acme("acme/_sdk_init.py", b""), capsys, "--init-py=acme", code=2)
    assert "has acme/_sdk_init.py already" in said


def test_a_copy_that_has_more_symbols_than_the_sdk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    extra = library(GRAFTED, symbols=(*HIP, "special"))
    user = library(None, [GRAFTED], undefined=["special"])
    files = {**BUNDLES.files, f"acme.libs/{GRAFTED}": extra, "acme/user.so": user}
    said = refused(tmp_path, Sample(files, name="acme"), capsys, "--drop-bundled")
    assert f"acme/user.so needs special, and _sdk_core/lib/libhip.so.7 lacks it, which acme.libs/{GRAFTED} has" in said
    files["acme/user.so"] = library(None, [], undefined=["special"])
    said = refused(tmp_path, Sample(files, name="acme"), capsys, "--drop-bundled")
    assert "acme/user.so needs special, and _sdk_core/lib/libhip.so.7 lacks it" in said
    assert run(tmp_path, Sample(files, name="acme"), "--drop-bundled", "--allow-missing=spec*") == 0


def test_symbols_that_something_else_may_have(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What they are called says nothing of who has them."""
    undefined = ["other_call", "hipNew", "_ZN3hip3newEv"]
    sample = acme("acme/new.so", library(None, ["libhip.so.7", "libother.so"], undefined=undefined))
    assert run(tmp_path, sample, "--externals=libother.so") == 0
    said = capsys.readouterr().out
    assert "acme/new.so: needs libhip.so.7\n      not proven, because a library that was not looked at" in said
    assert "may have them: other_call, hipNew, _ZN3hip3newEv\n" in said


def test_an_sdk_that_lacks_what_its_libraries_need(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {"acme/a.so": library(None, ["libblas.so.5"], undefined=["hipMalloc"])}
    sdk(tmp_path, MATH)
    said = refused(tmp_path, Sample(files, name="acme"), capsys)
    assert "_sdk_math/lib/libblas.so.5 needs libhip.so.7, and neither the wheel, nor --sdk, nor every" in said
    blind = {"_sdk_math/lib/libblas.so.5": library("libblas.so.5", ["libhip.so.7"], BLAS)}
    sdk(tmp_path, CORE, Sample(blind, name="sdk_math", version=MATH.version))
    said = refused(tmp_path, Sample(files, name="acme"), capsys)
    assert (
        "_sdk_math/lib/libblas.so.5 needs libhip.so.7, and its search path does not lead to --sdk, which has it\n"
        in said
    )


def test_another_version_can_be_left_to_the_system(tmp_path: Path) -> None:
    assert run(tmp_path, acme("acme/new.so", library(None, ["libhip.so.8"])), "--leave=libhip.so.8") == 0


def test_wheels_of_the_sdk_that_are_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "sdk").mkdir()
    assert "holds no distributions" in refused(tmp_path, EXPECTS, capsys, code=2)
    (tmp_path / "sdk/sdk.whl").write_bytes(CORE.build())
    assert "sdk.whl: not a wheel's file name" in refused(tmp_path, EXPECTS, capsys)
    (tmp_path / "sdk/sdk.whl").unlink()
    (tmp_path / "sdk" / CORE.filename).write_bytes(CORE.build()[:-40])
    assert f"{CORE.filename}: damaged: " in refused(tmp_path, EXPECTS, capsys)
    written(tmp_path / "sdk", Sample(name="sdk_core", version=CORE.version))
    assert "no library (lib*.so) in the wheels of --sdk" in refused(tmp_path, EXPECTS, capsys)


def test_two_wheels_with_one_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same wheel twice is one wheel."""
    sdk(tmp_path, CORE, MATH)
    again = tmp_path / "sdk/again" / CORE.filename
    again.parent.mkdir()
    again.write_bytes(Sample({**CORE.files, "other": b""}, name="sdk_core", version=CORE.version).build())
    assert "two wheels of sdk-core in --sdk. Name one of them" in refused(tmp_path, EXPECTS, capsys, code=2)
    again.write_bytes((tmp_path / "sdk" / CORE.filename).read_bytes())
    assert run(tmp_path, EXPECTS) == 0


def test_packages_for_several_gpus(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The larger of two libraries won: one wheel required parts of both packages."""
    sdk(tmp_path, CORE, math_for("gfx942", 1000), math_for("gfx1100"))
    said = refused(tmp_path, EXPECTS, capsys)
    assert "both have libblas.so.5, for gfx1100 and for gfx942; expected the packages for one GPU" in said
    for wheel in (tmp_path / "sdk").glob("sdk_math_gfx1100-*"):
        wheel.unlink()
    assert run(tmp_path, EXPECTS) == 0


def test_a_package_for_another_gpu_than_the_wheel(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The wheel required a library without code for the one GPU that it is for itself."""
    sdk(tmp_path, CORE, math_for("gfx942"))
    sample = acme("acme/tables_gfx1100.co", b"x")
    said = refused(tmp_path, sample, capsys)
    assert "has libblas.so.5 for gfx942, and the wheel's own device code is for gfx1100. Give the packages for" in said
    assert "has libblas.so.5 for gfx942, and --device=gfx1101 asks" in refused(
        tmp_path, sample, capsys, "--device=gfx1101"
    )
    assert run(tmp_path, sample, "--device=machine") == 0
    only = "sdk-math-gfx942 has it for gfx942 alone: --sdk has no other package with these libraries"
    assert only in capsys.readouterr().out


def test_no_package_for_the_gpu_that_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sdk(tmp_path, CORE, math_for("gfx942"), math_for("gfx1100"))
    said = refused(tmp_path, EXPECTS, capsys, "--device=gfx1101")
    assert "have libblas.so.5 for gfx1100, gfx942, and --device=gfx1101 asks for it. Give the packages for" in said


def test_packages_of_two_versions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The wheel required both, which no installer can bring together."""
    newer = METADATA.replace("Summary", "Requires-Dist: sdk-core==7.11\nSummary")
    sdk(tmp_path, CORE, Sample(MATH.files, name="sdk_math", version="7.11", metadata=newer))
    said = refused(tmp_path, EXPECTS, capsys)
    assert f"sdk_math-7.11-py3-none-linux_x86_64.whl: requires sdk-core==7.11, and --sdk has {CORE.version}" in said


def test_two_packages_with_different_libraries_of_one_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The larger one was taken, whatever it was."""
    other = Sample({"other/lib/libhip.so.7": library("libhip.so.7", symbols=HIP) + bytes(5000)}, name="other")
    sdk(tmp_path, CORE, MATH, other)
    said = refused(tmp_path, EXPECTS, capsys)
    assert f"{other.filename} and {CORE.filename}: have different libraries libhip.so.7; expected one" in said
    files = {"acme/a.so": library(None, ["libblas.so.5"])}
    assert "different libraries libhip.so.7" in refused(tmp_path, Sample(files, name="acme"), capsys)


def test_packages_for_one_gpu_and_for_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The larger library won here, too."""
    sdk(tmp_path, CORE, MATH, math_for("gfx942", 1000))
    said = refused(tmp_path, EXPECTS, capsys)
    assert "both have libblas.so.5, for all GPUs and for gfx942; expected the packages for one GPU" in said


def test_a_wheel_that_requires_the_package_of_another_gpu(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It required both, and its search path led to the other one's library first."""
    sdk(tmp_path / "first", CORE, math_for("gfx1100"))
    assert run(tmp_path / "first", EXPECTS) == 0
    folder = sdk(tmp_path, CORE, math_for("gfx942"))
    arguments = [str(made(tmp_path / "first")), f"--sdk={folder}", f"--output={tmp_path / 'out'}"]
    assert tool.main(arguments, INIT_PY) == 1
    message = f"METADATA requires sdk-math-gfx1100=={MATH.version}, and --sdk has sdk-math-gfx942, for another GPU"
    assert message in capsys.readouterr().err


def test_a_damaged_library_of_the_sdk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = CORE.files["_sdk_core/lib/libhip.so.7"]
    sdk(tmp_path, Sample({"_sdk_core/lib/libhip.so.7": data[:200]}, name="sdk_core", version=CORE.version), MATH)
    assert "_sdk_core/lib/libhip.so.7: at 0x" in refused(tmp_path, EXPECTS, capsys)


def test_a_package_that_the_sdk_does_not_require(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sdk(tmp_path, CORE, Sample(MATH.files, name="sdk_math", version=MATH.version))
    files = {"acme/a.so": library(None, ["libblas.so.5"], undefined=[BLAS[0]])}
    said = refused(tmp_path, Sample(files, name="acme"), capsys)
    assert "_sdk_math/lib/libblas.so.5 needs libhip.so.7, and its search path does not" in said


def test_a_file_that_cannot_be_edited(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = bytearray(library("ld-linux-x86-64.so.2", ["libhip.so.7"]))
    said = refused(tmp_path, acme("acme/ld.so", bytes(data)), capsys)
    assert "Its search path cannot be set: link the file differently" in said


def test_a_wheel_that_changes_meanwhile(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    prove = proof.prove

    def changed(*arguments: object) -> object:
        (tmp_path / "in" / EXPECTS.filename).write_bytes(acme("acme/new.py", b"").build())
        return prove(*arguments)  # type: ignore[arg-type]  # as the tool calls it

    monkeypatch.setattr(tool, "prove", changed)
    said = refused(tmp_path, EXPECTS, capsys, code=2)
    assert "was changed while" in said


def test_an_interrupted_run_leaves_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("wheels.common.copying.write_wheel", interrupted)
    assert run(tmp_path, EXPECTS) == 130
    assert capsys.readouterr().err == "rocm-wheels require-sdk: interrupted; nothing was written\n"
    assert not (tmp_path / "out").exists()
