"""Requirements with environment markers on a package of the SDK: where they count, they must accept it."""

from email.parser import BytesParser
from pathlib import Path

import pytest

from develop.testing.framework_wheel import FILES, LABEL, VERSION, content, made, run
from develop.testing.wheel_sample import METADATA, Sample


def acme(*fields: str, tag: str = "py3-none-linux_x86_64") -> Sample:
    """Return the wheel with these lines in METADATA."""
    return Sample(FILES, name="acme", tag=tag, metadata=METADATA.replace("Summary", "\n".join([*fields, "Summary"])))


def requirements(folder: Path) -> list[str]:
    """Return what the new wheel requires."""
    path = made(folder)
    metadata = content(path)[f"acme-1.0+{LABEL}.dist-info/METADATA"]
    return BytesParser().parsebytes(metadata).get_all("Requires-Dist") or []


@pytest.mark.parametrize(
    ("tag", "marker"),
    [
        ("py3-none-linux_x86_64", 'python_version < "3.12"'),
        ("cp312-abi3-linux_x86_64", 'python_version >= "3.13"'),
        ("cp312-cp312-linux_x86_64", 'python_full_version >= "3.12"'),
        ("cp312-cp312-linux_x86_64", 'platform_machine == "x86_64"'),
        ("cp312-cp312-manylinux_2_28_aarch64", 'platform_machine == "aarch64"'),
    ],
)
def test_a_condition_that_the_wheel_can_meet(
    tag: str, marker: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, acme(f"Requires-Dist: sdk_core<7; {marker}", tag=tag)) == 1
    said = capsys.readouterr().err
    assert f"METADATA requires sdk_core<7; {marker}, and --sdk has version {VERSION}. Give the wheels of the" in said
    assert "or build the wheel without this requirement\n" in said
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("tag", "marker"),
    [
        ("cp312-cp312-linux_x86_64", 'python_version < "3.12"'),
        ("cp312-abi3-linux_x86_64", 'python_version < "3.12"'),
        ("cp312-cp312-linux_x86_64", 'platform_machine == "aarch64"'),
        ("cp312-cp312-manylinux_2_28_aarch64", 'platform_machine == "x86_64"'),
        ("py3-none-linux_x86_64", 'sys_platform == "win32"'),
    ],
)
def test_a_condition_that_the_wheel_never_meets(tag: str, marker: str, tmp_path: Path) -> None:
    old = f"sdk_core<7; {marker}"
    assert run(tmp_path, acme(f"Requires-Dist: {old}", tag=tag)) == 0
    assert requirements(tmp_path) == [old, f"sdk-core=={VERSION}", f"sdk-math=={VERSION}"]
