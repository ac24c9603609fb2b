"""Libraries with device code for some GPUs alone."""

from pathlib import Path

import pytest

from develop.testing.device_sample import HOST, PREFIX, Part, Sample, bundle
from develop.testing.elf_sample import Sample as Library
from hip.tools.slice import main
from lib.device.reader import read_device_code

CODE = {
    target: target.encode() for target in ("gfx1100", "gfx1250", "gfx1250-strict", "gfx90a", "gfx942", "gfx942:xnack+")
}
WHOLE = Sample((Part(bundle([(HOST, b""), *((PREFIX + target, code) for target, code in CODE.items())])),)).build()


def sliced(directory: Path, content: bytes, *targets: str) -> bytes:
    """Run the tool."""
    library, output = directory / "librocrand.so.1", directory / "sliced.so"
    library.write_bytes(content)
    library.chmod(0o755)
    options = ["--label=@rocm//:lib/librocrand.so.1", *(f"--target={one}" for one in targets)]
    assert main([*options, f"--output={output}", f"--library={library}"]) == 0
    assert output.stat().st_mode & 0o777 == 0o755
    return output.read_bytes()


def targets_of(path: Path) -> list[str]:
    """Return the targets of the code objects of a library."""
    with path.open("rb") as file:
        codes = read_device_code(file, str(path)).code_objects()
        return sorted(str(code.entry.target) for code in codes if code.entry.target)


@pytest.mark.parametrize(
    ("targets", "kept"),
    [
        (["gfx90a"], ["gfx90a"]),
        (["gfx1100", "gfx90a"], ["gfx1100", "gfx90a"]),
        (["gfx90a:xnack+", "gfx1030"], ["gfx90a"]),
        (["gfx1030"], []),
        (["gfx11-generic"], ["gfx1100"]),
        (["gfx1250"], ["gfx1250", "gfx1250-strict"]),
        (["gfx1250-strict"], ["gfx1250", "gfx1250-strict"]),
        (["gfx9-4-generic:xnack-"], ["gfx942"]),
    ],
)
def test_targets(targets: list[str], kept: list[str], tmp_path: Path) -> None:
    sliced(tmp_path, WHOLE, *targets)
    assert targets_of(tmp_path / "sliced.so") == kept


def test_a_library_without_device_code_stays(tmp_path: Path) -> None:
    content = Library(soname="librocrand.so.1").build()
    assert sliced(tmp_path, content, "gfx90a") == content


def test_what_cannot_be_sliced_stays_and_says_so(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    content = Sample((Part(bundle([("hip-amdgcn-amd-amdhsa--unheard of", b"code")])),)).build()
    assert sliced(tmp_path, content, "gfx90a") == content
    assert (said := capfd.readouterr().err).startswith("NOTE: ")
    assert "librocrand.so.1: " in said
    assert said.endswith("it keeps its device code for all GPUs\n")
