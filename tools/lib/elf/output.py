"""Writes the new file behind a patch, whole or not at all."""

import os
import tempfile
from pathlib import Path
from typing import BinaryIO

from tools.lib.elf.patch import Patch


def write_patched(patch: Patch, file: BinaryIO, output: str) -> None:
    """Write what `patch` makes of `file`, a file that the system has open, to `output` (it may be the same file).

    It gets the mode of `file`. It is written beside `output` and renamed when it is whole, so that a run that fails
    leaves no half-written file. Raises ElfError as `Patch.chunks` does, OSError as the system does.
    """
    target = Path(output)
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    temporary = Path(name)
    try:
        with open(descriptor, "wb") as out:
            patch.write(file, out)
            os.fchmod(out.fileno(), os.fstat(file.fileno()).st_mode & 0o7777)
        temporary.replace(target)
    except BaseException:
        temporary.unlink()
        raise
