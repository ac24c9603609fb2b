"""An SDK for another maker's GPUs: packages that name their files, and a selector that chooses by the GPU."""

import io
import json
import re
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from environment import DIST, Environment
from packaging.metadata import Metadata

#: Where the reports on the packages are, beside the index.
REPORTS = DIST.parent
#: How the rules sign what they write: docs/sdk/your-own-sdk.md, "What still names this project".
SIGNATURE = "rules_rocm_python"


@pytest.fixture
def empty(tmp_path: Path) -> Environment:
    return Environment(tmp_path / "environment")


def driver(directory: Path, *gpus: str) -> str:
    """Make what the driver of Acme's GPUs writes; return its directory."""
    directory.mkdir()
    (directory / "gpus").write_text("".join(f"{gpu}\n" for gpu in gpus))
    return str(directory)


def installed(environment: Environment) -> set[str]:
    return environment.distributions() - {"acme", "acme_core"}


def files(target: str) -> set[str]:
    (wheel,) = DIST.glob(f"acme_kernels_{target}-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return {Path(name).name for name in archive.namelist() if "/kernels/" in name}


def test_each_package_has_the_files_for_its_architecture() -> None:
    assert files("sm_80") == {"gemm_sm_80.cubin", "conv_sm_8x.cubin"}
    assert files("sm_90") == {"gemm_sm_90.cubin", "sm90_tuning.txt"}


@pytest.mark.parametrize(
    ("gpus", "target"), [(["sm_90"], "sm_90"), (["sm_86"], "sm_80"), (["sm_70", "sm_90"], "sm_90"), ([], "sm_80")]
)
def test_pip_installs_the_package_for_the_gpu(empty: Environment, tmp_path: Path, gpus: list[str], target: str) -> None:
    empty.install("acme[device]", ACME_DRIVER=driver(tmp_path / "driver", *gpus))
    assert installed(empty) == {f"acme_kernels_{target}"}
    assert (empty.site_packages / f"_acme_kernels_{target}/share/kernels").is_dir()


def test_the_variable_and_explicit_extras_do_not_ask_the_machine(empty: Environment, tmp_path: Path) -> None:
    acme = driver(tmp_path / "driver", "sm_80")
    empty.install("acme[device]", ACME_DRIVER=acme, ACME_GPU="sm_90")
    assert installed(empty) == {"acme_kernels_sm_90"}
    empty.install("acme[device-all]", ACME_DRIVER=acme)
    assert installed(empty) == {"acme_kernels_sm_80", "acme_kernels_sm_90"}


def test_an_unknown_gpu_is_one_message(empty: Environment) -> None:
    with pytest.raises(AssertionError) as error:
        empty.install("acme[device]", ACME_GPU="sm_70")
    text = " ".join(str(error.value).split())
    assert (
        "ACME_GPU=sm_70: there is no package for this GPU. Available: sm_80, sm_86, sm_90. Set ACME_GPU to one of "
        "these, or unset it to let the machine's GPU decide"
    ) in text
    assert "Traceback" not in text.partition("ACME_GPU=sm_70")[0].rpartition("[")[2]


def test_uv_chooses_too(empty: Environment, tmp_path: Path) -> None:
    acme = driver(tmp_path / "driver", "sm_90")
    index = f"--find-links={DIST}/index.html"
    empty.uv("pip", "install", "--offline", "--no-index", index, "acme[device]", ACME_DRIVER=acme)
    assert installed(empty) == {"acme_kernels_sm_90"}


def test_the_static_wheel_has_the_extras_of_every_machine() -> None:
    (wheel,) = (DIST / "static").glob("acme-*.whl.metadata")
    metadata = Metadata.from_email(wheel.read_bytes(), validate=True)
    assert metadata.provides_extra == ["device-all", "device-sm-80", "device-sm-90"]
    assert [one.name for one in metadata.requires_dist or [] if not one.marker] == ["acme-core"]


def texts() -> Iterator[tuple[str, bytes]]:
    """Yield the content of every report, of every file of the index, and of every member of wheels and sdists."""
    reports = [path for path in REPORTS.iterdir() if path.is_file()]
    for path in sorted([*reports, *(path for path in DIST.rglob("*") if path.is_file())]):
        if path.suffix == ".whl":
            with zipfile.ZipFile(path) as wheel:
                yield from ((f"{path.name}: {name}", wheel.read(name)) for name in wheel.namelist())
        elif path.name.endswith(".tar.gz"):
            with tarfile.open(fileobj=io.BytesIO(path.read_bytes())) as tar:
                for member in tar:
                    if file := tar.extractfile(member):
                        yield f"{path.name}: {member.name}", file.read()
        else:
            yield str(path), path.read_bytes()


def test_nothing_says_rocm() -> None:
    found = {
        name: word[0]
        for name, content in texts()
        if (word := re.search(rb"(?i).{0,40}(?:rocm|\bamd|gfx\d).{0,40}", content.replace(SIGNATURE.encode(), b"")))
    }
    assert found == {}


def test_what_is_installed_says_no_rocm(empty: Environment, tmp_path: Path) -> None:
    said = empty.install("--verbose", "acme[device]", ACME_DRIVER=driver(tmp_path / "driver", "sm_90"))
    paths = [path for path in empty.site_packages.rglob("*") if path.is_file() and "acme" in str(path)]
    content = b"".join(path.read_bytes() for path in paths).replace(SIGNATURE.encode(), b"")
    assert b"rocm" not in content.lower()
    (selected,) = empty.site_packages.glob("acme-*.dist-info/selected.json")
    assert json.loads(selected.read_text())["reason"] == "this machine has the GPU sm_90"
    assert "rocm" not in said.lower().replace(str(DIST).lower(), "")
