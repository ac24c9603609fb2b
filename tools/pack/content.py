"""The bytes that an entry has in its package: a file, an ELF file patched in flight, a launcher, a forwarder."""

import posixpath
from collections.abc import Iterator
from typing import Any, BinaryIO

from tools.common.errors import ToolError
from tools.deflate.blocks import BLOCK_BYTES
from tools.elf.edit import ElfEdit
from tools.elf.editor import plan_patch
from tools.elf.errors import ElfError
from tools.elf.reader import read_elf
from tools.pack.forwarder import forwarder
from tools.pack.launcher import finished_launcher


def file_chunks(file: BinaryIO) -> Iterator[bytes]:
    """Read a file block by block."""
    while chunk := file.read(BLOCK_BYTES):
        yield chunk


def patched_chunks(file: BinaryIO, entry: dict[str, Any], notes: dict[str, list[str]]) -> Iterator[bytes]:
    """Stream an ELF file with its search path replaced, and note by its path what that gave up.

    Raises ToolError where the edit cannot be made.
    """
    source, rpath = entry["source"], entry["rpath"]
    edit = ElfEdit()
    if rpath:
        edit.set_search_path(rpath)
    else:
        edit.remove_search_path()
    try:
        patch = plan_patch(read_elf(file, source), file, edit)
        if patch.notes:
            notes[entry["path"]] = list(patch.notes)
        for chunk in patch.chunks(file, BLOCK_BYTES):
            yield bytes(chunk)
    except ElfError as error:
        raise ToolError(
            f"{error}. Its RPATH cannot be set: exclude the file from the package, or link it differently"
        ) from None


def entry_chunks(
    entry: dict[str, Any], located: dict[str, str], launcher: str | None, notes: dict[str, list[str]]
) -> Iterator[bytes]:
    """Stream the bytes that an entry has in the package."""
    if "launcher_target" in entry:
        if launcher is None:
            raise ToolError(f"{entry['path']}: needs a launcher; expected the rule to give one")
        yield finished_launcher(launcher, entry["path"], entry["launcher_target"])
        return
    if "forwarder_target" in entry:
        yield forwarder(posixpath.basename(entry["path"]), entry["forwarder_target"], entry["machine"])
        return
    with open(located[entry["source"]], "rb") as file:
        yield from patched_chunks(file, entry, notes) if "rpath" in entry else file_chunks(file)
