"""Faults of one wheel: its archive, RECORD, metadata, and what it holds."""

import base64
import hashlib
import stat
import zipfile
from collections.abc import Callable

from lib.wheel.variant_format import variant_json
from wheels.tests.editing import EditedSet, EditedWheel, record_row
from wheels.tests.faults import fault
from wheels.tests.planted_set import mirror

INIT = "tool/__init__.py"
Row = tuple[str, str, str]


def tool(edited: EditedSet) -> EditedWheel:
    """Return the wheel that most of these faults are planted in: nothing else depends on it."""
    return edited.wheel("tool")


@fault("W101", "the wheel is cut off", "tool")
def _(edited: EditedSet) -> None:
    def cut(wheel: bytearray) -> None:
        del wheel[len(wheel) // 2 :]

    tool(edited).on_bytes.append(cut)


@fault("W102", "a file is there twice", "tool", INIT)
def _(edited: EditedSet) -> None:
    tool(edited).extra_members.append((INIT, tool(edited).files[INIT]))


@fault("W103", "a local header has another name", "tool", INIT)
def _(edited: EditedSet) -> None:
    def rename(wheel: bytearray) -> None:
        at = wheel.index(INIT.encode())
        wheel[at : at + len(INIT)] = b"tool/__inot__.py"

    tool(edited).on_bytes.append(rename)


@fault("W105", "bytes behind the archive's end", "tool")
def _(edited: EditedSet) -> None:
    tool(edited).on_bytes.append(lambda wheel: wheel.extend(b"and more"))


@fault("W105", "bytes in front of the archive", "tool")
def _(edited: EditedSet) -> None:
    def shift(wheel: bytearray) -> None:
        wheel[:0] = b"#!/bin/sh\n"

    tool(edited).on_bytes.append(shift)


@fault("W103", "an extra field that is cut off", "tool", INIT)
def _(edited: EditedSet) -> None:
    tool(edited).extras[INIT] = b"\1\0\2"


@fault("W119", "a comment of the archive", "tool")
def _(edited: EditedSet) -> None:
    def comment(wheel: bytearray) -> None:
        wheel[-2:] = b"\4\0text"

    tool(edited).on_bytes.append(comment)


@fault("W106", "a file is compressed by bzip2", "tool", INIT)
def _(edited: EditedSet) -> None:
    tool(edited).methods[INIT] = zipfile.ZIP_BZIP2


@fault("W107", "a flipped byte in a compressed file", "tool", "tool/data.txt")
def _(edited: EditedSet) -> None:
    path = "tool/data.txt"
    tool(edited).files[path] = bytes(range(256)) * 8

    def flip(wheel: bytearray) -> None:
        wheel[wheel.index(path.encode()) + len(path) + 120] ^= 0x10

    tool(edited).on_bytes.append(flip)


@fault("W108", "a symbolic link", "tool", "tool/link")
def _(edited: EditedSet) -> None:
    tool(edited).files["tool/link"] = b"__init__.py"
    tool(edited).modes["tool/link"] = stat.S_IFLNK | 0o777


@fault("W109", "a path with ..", "tool", "../outside.txt")
def _(edited: EditedSet) -> None:
    tool(edited).files["tool/../outside.txt"] = b"text"


@fault("W109", "an absolute path", "tool", "/etc/outside.txt")
def _(edited: EditedSet) -> None:
    tool(edited).files["/etc/outside.txt"] = b"text"


@fault("W109", "a device of Windows", "tool", "conin$.txt")
def _(edited: EditedSet) -> None:
    tool(edited).files["tool/conin$.txt"] = b"text"


@fault("W109", "a device of Windows with a superscript digit", "tool", "COM¹")
def _(edited: EditedSet) -> None:
    tool(edited).files["tool/COM¹"] = b"text"


@fault("W110", "two paths that differ in case", "tool", "tool/data.txt")
def _(edited: EditedSet) -> None:
    tool(edited).files |= {"tool/data.txt": b"one", "tool/Data.txt": b"other"}


@fault("W111", "a long path", "tool", "/deep/")
def _(edited: EditedSet) -> None:
    tool(edited).files["tool/" + "deep/" * 40 + "file.txt"] = b"text"


@fault("W115", "a name that is no wheel's", "tool-one")
def _(edited: EditedSet) -> None:
    tool(edited).name = "tool-one.whl"


def as_variant(edited: EditedSet, label: str, said: str) -> EditedWheel:
    """Make the wheel a wheel variant, whose variant.json says a label."""
    wheel = tool(edited)
    wheel.name = wheel.name.replace(".whl", f"-{label}.whl") if label else wheel.name
    if said:
        wheel.files[f"{wheel.dist_info}/variant.json"] = variant_json(said, [said])
    return wheel


@fault("W115", "a label with capital letters", "tool-1.0")
def _(edited: EditedSet) -> None:
    as_variant(edited, "GFX942", "gfx942")


@fault("W117", "a label, and no variant.json", "tool", "variant.json")
def _(edited: EditedSet) -> None:
    as_variant(edited, "gfx942", "")


@fault("W117", "a variant.json, and no label", "tool", "variant.json")
def _(edited: EditedSet) -> None:
    as_variant(edited, "", "gfx942")


@fault("W117", "a variant.json for another label", "tool", "variant.json")
def _(edited: EditedSet) -> None:
    as_variant(edited, "gfx942", "gfx950")


@fault("W117", "a variant.json that is not JSON", "tool", "variant.json")
def _(edited: EditedSet) -> None:
    wheel = as_variant(edited, "gfx942", "")
    wheel.files[f"{wheel.dist_info}/variant.json"] = b"{"


@fault("W201", "no RECORD", "tool")
def _(edited: EditedSet) -> None:
    tool(edited).without_record = True


@fault("W202", "a file that RECORD does not list", "tool", "tool/more.py")
def _(edited: EditedSet) -> None:
    tool(edited).extra_members.append(("tool/more.py", b'"""More."""\n'))


@fault("W203", "RECORD lists a file that is not there", "tool", "tool/gone.py")
def _(edited: EditedSet) -> None:
    tool(edited).on_record.append(lambda rows: rows.insert(0, record_row("tool/gone.py", b"")))


@fault("W204", "two hashes of RECORD are swapped", "rocm_sdk_core", ".h")
def _(edited: EditedSet) -> None:
    core = edited.wheel("rocm_sdk_core")
    paths = ("_rocm_sdk_core/include/hip/hip_runtime.h", "_rocm_sdk_core/include/hip/other.h")
    core.files[paths[1]] = core.files[paths[0]][::-1]
    mirror(edited, "include/hip/other.h")

    def swap(rows: list[Row]) -> None:
        one, other = (next(at for at, row in enumerate(rows) if row[0] == path) for path in paths)
        hashes = rows[one][1], rows[other][1]
        rows[one], rows[other] = (rows[one][0], hashes[1], rows[one][2]), (rows[other][0], hashes[0], rows[other][2])

    core.on_record.append(swap)


@fault("W204", "of SHA-512 hashes in RECORD one is of other bytes", "tool", INIT)
def _(edited: EditedSet) -> None:
    record_by("sha512", tool(edited))
    _change_row(tool(edited), INIT, lambda row: (row[0], hashed("sha512", b"other bytes"), row[2]))


@fault("W204", "RECORD has another size", "tool", INIT)
def _(edited: EditedSet) -> None:
    _change_row(tool(edited), INIT, lambda row: (row[0], row[1], str(int(row[2]) + 1)))


@fault("W206", "a hash in RECORD is padded", "tool", INIT)
def _(edited: EditedSet) -> None:
    _change_row(tool(edited), INIT, lambda row: (row[0], row[1] + "=", row[2]))


@fault("W206", "a hash in RECORD is MD5", "tool", INIT)
def _(edited: EditedSet) -> None:
    _change_row(tool(edited), INIT, lambda row: (row[0], "md5=1B2M2Y8AsgTpgAmY7PhCfg", row[2]))


@fault("W206", "RECORD lists a file twice", "tool", INIT)
def _(edited: EditedSet) -> None:
    tool(edited).on_record.append(lambda rows: rows.append(next(row for row in rows if row[0] == INIT)))


def hashed(algorithm: str, data: bytes) -> str:
    """Return a digest as RECORD has it."""
    digest = base64.urlsafe_b64encode(hashlib.new(algorithm, data).digest()).rstrip(b"=").decode()
    return f"{algorithm}={digest}"


def record_by(algorithm: str, wheel: EditedWheel) -> None:
    """Let RECORD have the digests of another algorithm."""

    def apply(rows: list[Row]) -> None:
        rows[:] = [(path, hashed(algorithm, wheel.files[path]) if digest else "", size) for path, digest, size in rows]

    wheel.on_record.append(apply)


def _change_row(wheel: EditedWheel, path: str, change: Callable[[Row], Row]) -> None:
    def apply(rows: list[Row]) -> None:
        at = next(at for at, row in enumerate(rows) if row[0] == path)
        rows[at] = change(rows[at])

    wheel.on_record.append(apply)
