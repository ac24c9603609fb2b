"""Makes small DLLs with device code for the tests, as clang and LLD make them for HIP on Windows."""

import io
from collections.abc import Sequence
from dataclasses import replace
from struct import pack

from develop.testing.pe_sample import Sample
from lib.device.wrapper import MAGIC, VERSION
from lib.pe.reader import read_pe

PAGE = 0x1000


def windows_library(bundles: Sequence[bytes], like: Sample | None = None) -> bytes:
    """Return a DLL with a wrapper for each of these bundles, which begin at pages; `like` says what else it has."""
    like = like or Sample()
    code, starts = b"", []
    for bundle in bundles:
        code = code.ljust(-len(code) % PAGE + len(code), b"\0")
        starts.append(len(code))
        code += bundle

    def built(wrappers: Sequence[int]) -> bytes:
        content = b"".join(pack("<IIQQ", MAGIC, VERSION, address, 0) for address in wrappers)
        return replace(like, sections=(*like.sections, (".hipFatB", content), (".hip_fat", code))).build()

    image = read_pe(io.BytesIO(built(starts)), "sample")
    begin = image.image_base + image.sections[-1].virtual_address
    return built([begin + start for start in starts])
