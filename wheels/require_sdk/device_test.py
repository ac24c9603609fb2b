"""An SDK whose libraries have no device code: the new wheel requires the packages that have it, for the right GPUs."""

import io
import json
import tarfile
from email.parser import BytesParser
from pathlib import Path

import pytest

from develop.testing.fat_wheel import code_object, plain
from develop.testing.framework_wheel import BLAS, CORE, RPATH, VERSION, content, library, made, run, sdk
from develop.testing.wheel_sample import METADATA, Sample

GFX942 = 0x4C
TARGETS = ("gfx942", "gfx1100")
BLAS_WHEEL = Sample(
    {"_sdk_blas/lib/libblas.so.5": library("libblas.so.5", ["libhip.so.7"], BLAS, ["hipMalloc"], RPATH)},
    name="sdk_blas",
    version=VERSION,
    metadata=METADATA.replace("Summary", f"Requires-Dist: sdk-core=={VERSION}\nSummary"),
)
USES_BLAS = {"acme/a.so": library(None, ["libblas.so.5"], undefined=[BLAS[0]])}
USES_HIP = {"acme/a.so": library(None, ["libhip.so.7"], undefined=["hipFree"])}
PIN = f"sdk-blas=={VERSION}"
EXTRAS = ("device", "device-all", *(f"device-{target}" for target in TARGETS))


def device(target: str) -> Sample:
    """Return the package with the device code for one GPU."""
    metadata = METADATA.replace("Summary", f"Requires-Dist: {PIN}\nSummary")
    files = {f"_sdk_blas/lib/blas/library/Kernels_{target}.co": code_object(GFX942)}
    return Sample(files, name=f"sdk_device_{target}", version=VERSION, metadata=metadata)


def names(version: str = VERSION, layout: str = "split") -> bytes:
    """Return what the selector says of the SDK's packages."""
    packages = {
        "core": {"distribution": "sdk-core", "tree": "_sdk_core"},
        "libraries": {"distribution": "sdk-blas", "tree": "_sdk_blas"},
        "device": {"distribution": "sdk-device-{target}", "tree": "_sdk_blas"},
    }
    known = {"version": version, "layout": layout, "targets": TARGETS, "default_target": "gfx942", "packages": packages}
    return json.dumps(known).encode()


def sdist(folder: Path, version: str = VERSION) -> None:
    """Write the selector, which chooses where it is installed."""
    files = {
        "PKG-INFO": f"Metadata-Version: 2.4\nName: sdk\nVersion: {version}\n".encode(),
        "src/sdk/_distributions.json": names(version),
    }
    folder.mkdir(exist_ok=True)
    with tarfile.open(folder / f"sdk-{version}.tar.gz", "w:gz") as tar:
        for path, data in files.items():
            info = tarfile.TarInfo(f"sdk-{version}/{path}")
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))


def static(version: str = VERSION) -> Sample:
    """Return the selector as a wheel, which does not look at the machine."""
    extras = "".join(f"Provides-Extra: {extra}\n" for extra in EXTRAS if extra != "device")
    metadata = METADATA.replace("Summary", f"{extras}Summary")
    return Sample(
        {"sdk/_distributions.json": names()}, name="sdk", version=version, metadata=metadata, tag="py3-none-any"
    )


def split_sdk(folder: Path, *samples: Sample, with_sdist: bool = True) -> None:
    """Write an SDK in the layout split, with packages for two GPUs unless others are given."""
    sdk(folder, CORE, BLAS_WHEEL, *(samples or map(device, TARGETS)))
    if with_sdist:
        sdist(folder / "sdk")


def acme(files: dict[str, bytes], *requires: str, version: str = "1.0") -> Sample:
    fields = "".join(f"Requires-Dist: {one}\n" for one in requires)
    return Sample(files, name="acme", version=version, metadata=METADATA.replace("Summary", f"{fields}Summary"))


def requirements(folder: Path) -> list[str]:
    """Return what the new wheel requires."""
    [text] = [data for name, data in content(made(folder)).items() if name.endswith(".dist-info/METADATA")]
    return BytesParser().parsebytes(text).get_all("Requires-Dist") or []


def said(capsys: pytest.CaptureFixture[str]) -> str:
    """Return what is said of device code."""
    lines = capsys.readouterr().out.splitlines()
    return "\n".join(line.strip().removeprefix("device code: ") for line in lines if "device code: " in line)


@pytest.mark.parametrize(
    ("files", "version", "extra", "reason"),
    [
        ({}, "1.0", "device", "the wheel has no device code of its own"),
        ({"acme/all.hipfb": plain()}, "1.0", "device", "own device code is for gfx1030, gfx1100, gfx1101, gfx942"),
        ({"acme/one.hipfb": plain(("gfx942:xnack+", "gfx942:xnack-"))}, "1.0", "device-gfx942", "is for gfx942"),
        ({"acme/one.hsaco": code_object(GFX942)}, "1.0", "device-gfx942", "own device code is for gfx942"),
        ({"acme/x_gfx1100.co": b"tables"}, "1.0", "device-gfx1100", "own device code is for gfx1100"),
        ({"acme/some.hipfb": plain(("gfx11-generic",))}, "1.0", "device", "own device code is for gfx11-generic"),
        ({"acme/any.hipfb": plain(("amdgcnspirv",))}, "1.0", "device", "own device code is for amdgcnspirv"),
        ({"acme/all.hipfb": plain()}, "1.0+gfx1100", "device-gfx1100", "the wheel's version says gfx1100"),
        ({"acme/all.hipfb": plain()}, "1.0+gfx110x.all", "device", "the wheel's version says gfx110X-all"),
        ({"acme/bad.hipfb": plain()[:60]}, "1.0", "device", "the device code of acme/bad.hipfb cannot be read"),
    ],
)
def test_the_extra_for_the_gpus_of_the_wheel(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], files: dict[str, bytes], version: str, extra: str, reason: str
) -> None:
    """The wheel required the libraries alone, which have no kernels, and nobody was told."""
    split_sdk(tmp_path)
    assert run(tmp_path, acme({**USES_BLAS, **files}, version=version)) == 0
    assert requirements(tmp_path) == [f"sdk[{extra}]=={VERSION}", PIN]
    brought = "the GPU of the machine that installs it" if extra == "device" else extra.removeprefix("device-")
    line = said(capsys)
    assert line.startswith(f"sdk[{extra}]=={VERSION} brings the package for {brought}, because ")
    assert line.endswith(reason)


@pytest.mark.parametrize(
    ("option", "wanted"),
    [
        ("gfx1100", ["sdk[device-gfx1100]"]),
        ("gfx1100,gfx942", ["sdk[device-gfx1100,device-gfx942]"]),
        ("machine", ["sdk[device]"]),
        ("all", ["sdk[device-all]"]),
        ("none", []),
    ],
)
def test_the_gpus_can_be_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str, wanted: list[str]
) -> None:
    split_sdk(tmp_path)
    files = {**USES_BLAS, "acme/one.hipfb": plain(("gfx942",))}
    assert run(tmp_path, acme(files), f"--device={option}") == 0
    assert requirements(tmp_path) == [*(f"{one}=={VERSION}" for one in wanted), PIN]
    assert said(capsys).endswith(f", because --device={option} asks for it")


def test_nothing_where_libraries_have_their_device_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Libraries of core have it, for one: the runtime."""
    split_sdk(tmp_path)
    assert run(tmp_path, acme(USES_HIP)) == 0
    assert requirements(tmp_path) == [f"sdk-core=={VERSION}"]
    assert said(capsys) == ""


def test_without_the_selector_among_the_sdk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The program knows that libraries of this name have their device code elsewhere, and which extras bring it."""
    split_sdk(tmp_path, with_sdist=False)
    assert run(tmp_path, acme(USES_BLAS), "--init-py=acme") == 2
    assert run(tmp_path, acme({**USES_BLAS, "acme/__init__.py": b""}), "--init-py=acme") == 0
    assert requirements(tmp_path) == [f"sdk[device]=={VERSION}", PIN]
    assert "sdk is not among --sdk: that it has this extra is not proven" in said(capsys)
    assert run(tmp_path, acme(USES_BLAS), "--device=gfx1109") == 2
    refusal = "--device=gfx1109 asks for it, and gfx1109 is a GPU that neither AMD's nor LLVM's table has; near it are "
    assert refusal in capsys.readouterr().err
    assert run(tmp_path, acme(USES_HIP, "sdk[device-all]"), "--device=gfx942") == 0
    assert requirements(tmp_path)[0] == "sdk[device-gfx942]"
    assert "sdk is not among --sdk: that it has this extra is not proven" in said(capsys)


def test_with_a_range_of_versions(tmp_path: Path) -> None:
    split_sdk(tmp_path)
    assert run(tmp_path, acme(USES_BLAS), "--specifier=>=7.10.dev0,<7.11") == 0
    assert requirements(tmp_path) == ["sdk[device]<7.11,>=7.10.dev0", "sdk-blas<7.11,>=7.10.dev0"]


@pytest.mark.parametrize(
    ("files", "options", "old", "new"),
    [
        ({}, ("--device=gfx942",), "sdk[libraries,device-all]", "sdk[device-gfx942,libraries]"),
        ({}, ("--device=none",), "sdk[libraries,device-all]", "sdk[libraries]"),
        ({}, ("--device=gfx942",), "sdk[Device_All]", "sdk[device-gfx942]"),
        ({}, ("--device=all",), "sdk[device,libraries]", "sdk[device-all,libraries]"),
        ({}, ("--device=gfx1100",), "sdk[device-gfx942]", "sdk[device-gfx1100]"),
        ({}, ("--device=machine",), "sdk[device-gfx942,device-gfx1100]", "sdk[device]"),
        ({"acme/x.co": code_object(GFX942)}, (), "sdk[libraries,device-all]", "sdk[device-gfx942,libraries]"),
    ],
)
@pytest.mark.parametrize("marker", ["", '; platform_system == "Linux"'])
@pytest.mark.parametrize("code", [USES_BLAS, USES_HIP])
def test_requirements_of_a_framework_are_narrowed(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    files: dict[str, bytes],
    options: tuple[str, ...],
    old: str,
    new: str,
    marker: str,
    code: dict[str, bytes],
) -> None:
    """PyTorch's wheels require the packages for all GPUs: everybody downloads 28 of them."""
    split_sdk(tmp_path)
    old, new = f"{old}=={VERSION}{marker}", f"{new}=={VERSION}{marker}"
    assert run(tmp_path, acme({**code, **files}, "numpy", old), *options) == 0
    own = PIN if code is USES_BLAS else f"sdk-core=={VERSION}"
    assert requirements(tmp_path) == ["numpy", new, own]
    assert f"{old} is now {new}, because " in said(capsys)


@pytest.mark.parametrize(
    ("requirement", "file", "told"),
    [
        ("sdk[device-all]", {}, "stays; --device=gfx942 would be for one GPU"),
        ("sdk[device]", {"acme/x.co": code_object(GFX942)}, "stays"),
        ("sdk[device-gfx1100,libraries]", {"acme/x.co": code_object(GFX942)}, "stays"),
    ],
)
def test_requirements_that_are_there_stay(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], requirement: str, file: dict[str, bytes], told: str
) -> None:
    split_sdk(tmp_path)
    requirement = f"{requirement}=={VERSION}"
    assert run(tmp_path, acme({**USES_BLAS, **file}, requirement)) == 0
    assert requirements(tmp_path) == [requirement, PIN]
    assert said(capsys) == f"{requirement} {told}"


def test_what_an_extra_of_the_wheel_brings_does_not_count(tmp_path: Path) -> None:
    split_sdk(tmp_path)
    wheel = acme(USES_BLAS, f'sdk[device-all]=={VERSION}; extra == "more"', f"sdk=={VERSION}")
    assert run(tmp_path, wheel) == 0
    assert requirements(tmp_path)[2:] == [f"sdk[device]=={VERSION}", PIN]


@pytest.mark.parametrize(
    ("files", "options", "message"),
    [
        (
            {"acme/one.hipfb": plain(("gfx1030",))},
            (),
            "for gfx1030; its extras are: device, device-all, device-gfx1100, device-gfx942. Name GPUs of these",
        ),
        ({}, ("--device=gfx1030",), "has no extra device-gfx1030, and --device=gfx1030 asks for it"),
        ({}, ("--device=gfx942,all",), "--device=gfx942,all: expected GPU targets, as in gfx942,gfx1100, or one of"),
        ({}, ("--device=mi300",), "--device=mi300: expected GPU targets"),
        ({}, ("--device=gfx942,gfx11022",), " and none; near it are gfx1102; "),
        ({}, ("--device=gfx1109",), "has no extra device-gfx1109"),
        ({}, ("--device=,",), "--device=,: expected GPU targets"),
    ],
)
def test_gpus_that_there_is_no_package_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], files: dict[str, bytes], options: tuple[str, ...], message: str
) -> None:
    split_sdk(tmp_path)
    assert run(tmp_path, acme({**USES_BLAS, **files}), *options) == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_selector_that_does_not_look_at_the_machine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    split_sdk(tmp_path, static(), with_sdist=False)
    assert run(tmp_path, acme(USES_BLAS)) == 1
    message = f"sdk-{VERSION}-py3-none-any.whl: has no extra device, and the wheel has no device code of its own; its"
    assert message in capsys.readouterr().err
    assert run(tmp_path, acme(USES_BLAS), "--device=gfx942") == 0
    assert requirements(tmp_path) == [f"sdk[device-gfx942]=={VERSION}", PIN]
    sdist(tmp_path / "sdk")
    assert run(tmp_path, acme(USES_BLAS)) == 0
    assert requirements(tmp_path) == [f"sdk[device]=={VERSION}", PIN]


def test_a_selector_of_another_version(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    split_sdk(tmp_path, with_sdist=False)
    sdist(tmp_path / "sdk", "7.11")
    assert run(tmp_path, acme(USES_BLAS)) == 1
    message = (
        f"sdk-7.11.tar.gz: selects version 7.11, and the packages of --sdk have version {VERSION}. Give the sdk of"
    )
    assert message in capsys.readouterr().err
    assert run(tmp_path, acme(USES_HIP)) == 0  # Nothing of it is required.
    sdist(tmp_path / "sdk")
    assert run(tmp_path, acme(USES_BLAS)) == 0


def test_a_framework_that_requires_another_version(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Such a wheel could not be installed: its METADATA asked for two versions of the packages."""
    split_sdk(tmp_path)
    for marker in ("", '; sys_platform == "linux"'):
        assert run(tmp_path, acme(USES_BLAS, f"sdk[libraries]==7.9{marker}")) == 1
        assert f", and --sdk has version {VERSION}. Give the wheels of the version" in capsys.readouterr().err


def test_a_damaged_selector(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    split_sdk(tmp_path)
    file = tmp_path / "sdk" / f"sdk-{VERSION}.tar.gz"
    file.write_bytes(file.read_bytes()[:-40])
    assert run(tmp_path, acme(USES_BLAS)) == 1
    assert f"sdk-{VERSION}.tar.gz: this sdist: " in capsys.readouterr().err


def test_a_gpu_that_no_package_is_for_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    split_sdk(tmp_path)
    assert run(tmp_path, acme(USES_HIP), "--device=gfx942") == 1
    assert "no needed library has its device code in a package of its own" in capsys.readouterr().err
