"""Directories for new wheels: whole ones come to lie there, or nothing does."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def scratch_directory(output: Path) -> Iterator[Path]:
    """Make a directory inside of `output`, and `output` itself; what is empty in the end goes, and what is scratch."""
    existed = output.is_dir()
    output.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory(prefix=".new-wheels-", dir=output) as scratch:
            yield Path(scratch)
    finally:
        if not existed:
            with suppress(OSError):  # It holds new wheels.
                output.rmdir()


def publish(scratch: Path, output: Path, places: Sequence[str]) -> None:
    """Move whole wheels to their places; one that is there already is replaced."""
    for place in places:
        (output / place).parent.mkdir(exist_ok=True)
        (scratch / place).replace(output / place)
