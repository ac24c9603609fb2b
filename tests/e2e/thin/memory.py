"""What a library hands to HIP when it is loaded, read from the memory of the process that loads it.

    python3 -m tests.e2e.thin.memory LIBRARY     # with the library of `compile_shim` in LD_PRELOAD

Run so, it loads LIBRARY as dlopen does with RTLD_NOW, and goes through all that was registered as the runtime would:
wrapper, bundle, table, code objects. It prints a line of JSON per wrapper. `handed` does this in a process of its own.

Reads nothing through `lib.device`: clang's documentation of the offload bundler has the layout of bundles.
"""

import ctypes
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from tests.e2e.testing.builds import WORKSPACE
from tests.e2e.testing.commands import run
from tests.e2e.thin.code import COMPRESSED, Bundle, Code

WRAPPER_MAGIC = 0x48495046
BUNDLE_MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
COMPRESSED_MAGIC = b"CCOB"
#: Where the size of a compressed bundle is, and of which type, by the version of its header. The first does not say it:
#: then the header stands for the bundle, with the beginning of the MD5 of what it inflates to.
SIZES = {2: (8, ctypes.c_uint32), 3: (8, ctypes.c_uint64)}
HEADER_SIZE = 20


class Handed(ctypes.Structure):
    """As register.c has it."""

    _fields_: ClassVar = [("wrapper", ctypes.c_void_p), ("file", ctypes.c_char_p)]


class Wrapper(ctypes.Structure):
    """clang's `__CudaFatBinaryWrapper`."""

    _fields_: ClassVar = [
        ("magic", ctypes.c_uint32),
        ("version", ctypes.c_uint32),
        ("bundle", ctypes.c_void_p),
        ("unused", ctypes.c_void_p),
    ]


def compile_shim(folder: Path) -> Path:
    """Compile the library that is to be preloaded; returns its path."""
    output = folder / "register.so"
    run("cc", "-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-o", output, Path(__file__).with_name("register.c"))
    return output


def handed(library: Path, shim: Path, search: str = "") -> list[Bundle]:
    """Load a library in a process of its own; returns the bundle of each wrapper, in the order of registration.

    `search` has folders for LD_LIBRARY_PATH, by default none. Ends the program if the library cannot be loaded.
    """
    command = [sys.executable, "-B", "-m", "tests.e2e.thin.memory", str(library)]
    lines = run(*command, LD_PRELOAD=str(shim), LD_LIBRARY_PATH=search, PYTHONPATH=str(WORKSPACE)).splitlines()
    return [tuple(sorted(Code(*code) for code in json.loads(line))) for line in lines]


def loads(library: Path, search: str = "") -> str:
    """Load a library in a process of its own with the true runtime; returns what went wrong, or nothing."""
    code = "import ctypes, os, sys; ctypes.CDLL(sys.argv[1], mode=os.RTLD_NOW | os.RTLD_LOCAL)"
    environment = {"PATH": "/usr/bin:/bin", "LD_LIBRARY_PATH": search}
    command = [sys.executable, "-c", code, str(library)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return f"exit code {done.returncode}\n{done.stdout}{done.stderr}" if done.returncode else ""


def fingerprint(data: bytes) -> Code:
    """Return what `handed` has for a compressed bundle that is these bytes."""
    version = int.from_bytes(data[4:6], "little")
    at, kind = SIZES.get(version, (0, ctypes.c_uint8))
    size = kind.from_buffer_copy(data, at).value if version in SIZES else HEADER_SIZE
    return Code(COMPRESSED, size, hashlib.sha256(data[:size]).hexdigest())


def _digest(address: int, size: int) -> str:
    return hashlib.sha256((ctypes.c_char * size).from_address(address)).hexdigest()


def _entries(address: int) -> Iterator[Code]:
    """Yield the entries of the bundle at an address. Raises ValueError if there is none."""
    if ctypes.string_at(address, len(COMPRESSED_MAGIC)) == COMPRESSED_MAGIC:
        version = ctypes.c_uint16.from_address(address + len(COMPRESSED_MAGIC)).value
        size = HEADER_SIZE
        if version in SIZES:
            at, kind = SIZES[version]
            size = kind.from_address(address + at).value
        yield Code(COMPRESSED, size, _digest(address, size))
        return
    magic = ctypes.string_at(address, len(BUNDLE_MAGIC))
    if magic != BUNDLE_MAGIC:
        raise ValueError(f"a wrapper points to {magic!r}; expected an offload bundle")
    at = address + len(BUNDLE_MAGIC)
    for _ in range(ctypes.c_uint64.from_address(at).value):
        offset, size, length = (ctypes.c_uint64 * 3).from_address(at + 8)
        yield Code(ctypes.string_at(at + 32, length).decode(), size, _digest(address + offset, size))
        at += 24 + length


def main() -> int:
    """Load a library and print what it handed over."""
    library = sys.argv[1]
    ctypes.CDLL(library, mode=os.RTLD_NOW | os.RTLD_LOCAL)
    shim = ctypes.CDLL(None)
    count = ctypes.c_size_t.in_dll(shim, "handed_count").value
    for one in list((Handed * count).in_dll(shim, "handed")):
        if not Path(os.fsdecode(one.file)).samefile(library):  # A library that this one needs.
            continue
        wrapper = Wrapper.from_address(one.wrapper)
        if (wrapper.magic, wrapper.version) != (WRAPPER_MAGIC, 1):
            raise ValueError(f"a wrapper with magic {wrapper.magic:#x} and version {wrapper.version}")
        if wrapper.bundle % os.sysconf("SC_PAGESIZE"):
            raise ValueError(f"a bundle at {wrapper.bundle:#x}, which is no page's beginning")
        print(json.dumps([[code.entry, code.size, code.sha256] for code in _entries(wrapper.bundle)]))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
