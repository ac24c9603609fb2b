"""What device code a bundle holds, as AMD's comgr says: by that library HIP takes bundles apart when it loads them.

    comgr = Comgr(path)
    bundle = comgr.take_apart(data, entries)

The library comes from the packages that are checked, called through ctypes: AMD_COMGR_ACTION_UNBUNDLE of amd_comgr.h,
with the bundle as OBJ_BUNDLE and its entries as EXECUTABLE, as HIP does. comgr lists nothing: it is asked for entries
by their IDs, and has an empty one for each that it does not find.

Reads nothing through `lib.device`.
"""

import ctypes
import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

from tests.e2e.thin.code import Bundle, Code

#: Of amd_comgr.h.
ACTION_UNBUNDLE = 0xF
DATA_KIND_EXECUTABLE = 0x8
DATA_KIND_OBJ_BUNDLE = 0x14
LIBRARY = "libamd_comgr.so.3"


class Handle(ctypes.Structure):
    """What all of comgr's handles are."""

    _fields_: ClassVar = [("handle", ctypes.c_uint64)]


def find_comgr(tree: Path) -> Path | None:
    """Return the library in the tree of the core package; None before ROCm 7, whose comgr 2 takes no code apart."""
    found = sorted((tree / "lib").glob("libamd_comgr.so.[0-9]"))
    if not found:
        raise SystemExit(f"{tree}/lib: no libamd_comgr.so.N; expected the tree of the core package")
    return found[0] if found[0].name == LIBRARY else None


class Comgr:
    """comgr, loaded from a file. Its functions raise ValueError where comgr's return a status that is not success."""

    def __init__(self, path: Path) -> None:
        os.environ["AMD_COMGR_CACHE"] = "0"  # or it remembers between runs what it took apart
        self._library = ctypes.CDLL(str(path), mode=os.RTLD_NOW | os.RTLD_LOCAL)
        self.path = path

    def _call(self, name: str, *arguments: object) -> None:
        if status := self._library[f"amd_comgr_{name}"](*arguments):
            raise ValueError(f"amd_comgr_{name}: status {status}")

    @contextmanager
    def _made(self, create: str, destroy: str, *arguments: object) -> Iterator[Handle]:
        made = Handle()
        self._call(create, *arguments, ctypes.byref(made))
        try:
            yield made
        finally:
            self._call(destroy, made)

    def take_apart(self, data: bytes, entries: Sequence[str]) -> Bundle:
        """Ask for entries of a bundle. The host's, of which HIP asks for none, count as empty."""
        asked = [entry for entry in entries if not entry.startswith("host-")]
        codes = [Code(entry, 0, hashlib.sha256().hexdigest()) for entry in entries if entry.startswith("host-")]
        return tuple(sorted([*codes, *(self._unbundle(data, asked) if asked else [])]))

    def _unbundle(self, data: bytes, entries: Sequence[str]) -> Iterator[Code]:
        names = (ctypes.c_char_p * len(entries))(*(entry.encode() for entry in entries))
        with (
            self._made("create_data", "release_data", DATA_KIND_OBJ_BUNDLE) as source,
            self._made("create_data_set", "destroy_data_set") as given,
            self._made("create_data_set", "destroy_data_set") as result,
            self._made("create_action_info", "destroy_action_info") as info,
        ):
            self._call("set_data", source, ctypes.c_size_t(len(data)), data)
            self._call("set_data_name", source, b"bundle")
            self._call("data_set_add", given, source)
            self._call("action_info_set_bundle_entry_ids", info, names, ctypes.c_size_t(len(entries)))
            self._call("do_action", ACTION_UNBUNDLE, info, given, result)
            count = ctypes.c_size_t()
            self._call("action_data_count", result, DATA_KIND_EXECUTABLE, ctypes.byref(count))
            if count.value != len(entries):
                raise ValueError(f"comgr has {count.value} code objects; expected {len(entries)}: {entries}")
            for number, entry in enumerate(entries):
                yield self._code(result, number, entry)

    def _code(self, result: Handle, number: int, entry: str) -> Code:
        with self._made(
            "action_data_get_data", "release_data", result, DATA_KIND_EXECUTABLE, ctypes.c_size_t(number)
        ) as found:
            size = ctypes.c_size_t()
            self._call("get_data", found, ctypes.byref(size), None)
            content = (ctypes.c_char * size.value)()
            self._call("get_data", found, ctypes.byref(size), content)
            return Code(entry, size.value, hashlib.sha256(content).hexdigest())
