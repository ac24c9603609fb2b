"""The libraries that faults are planted with are what they say, to pyelftools and to our own readers."""

import io

from elftools.elf.elffile import ELFFile
from elftools.elf.gnuversions import GNUVerNeedSection

from lib.device.kpack import read_kpack, read_reference
from lib.device.reader import read_device_code
from lib.pe.reader import read_pe
from wheels.tests.libraries import (
    facts,
    fat,
    kpack,
    offload_bundle,
    split_off,
    using,
    versioned,
    windows_split_off,
    with_section,
)
from wheels.verify.model import FileFacts
from wheels.verify.wheel_set.loader import read_linked


def test_defined_versions() -> None:
    data = versioned("libmath.so.1", ("MATH_1", "MATH_2"))
    assert facts(data).versions_defined == ("libmath.so.1", "MATH_1", "MATH_2")
    linked = read_linked(io.BytesIO(data), FileFacts("x", len(data), 0, "", elf=facts(data)))
    assert linked
    assert (linked.soname, linked.needed) == ("libmath.so.1", ("libc.so.6",))


def test_a_library_without_versions_defines_none() -> None:
    data = using("libuser.so.1", "libmath.so.1", ("MATH_1",))
    assert facts(data).versions_defined == ()
    linked = read_linked(io.BytesIO(data), FileFacts("x", len(data), 0, "", elf=facts(data)))
    assert linked
    assert linked.requires == {"libmath.so.1": ("MATH_1",)}
    (section,) = [one for one in ELFFile(io.BytesIO(data)).iter_sections() if isinstance(one, GNUVerNeedSection)]
    assert [library.name for library, _ in section.iter_versions()] == ["libmath.so.1"]


def data(elf: ELFFile, name: str) -> bytes:
    """Return the bytes of a section."""
    section = elf.get_section_by_name(name)
    assert section is not None
    found: bytes = section.data()
    return found


def test_another_section_leaves_all_others_as_they_were() -> None:
    plain = versioned("libmath.so.1", ("MATH_1",))
    elf = ELFFile(io.BytesIO(with_section(plain, ".extra", b"content")))
    before = [one.name for one in ELFFile(io.BytesIO(plain)).iter_sections()]
    assert [one.name for one in elf.iter_sections()] == [*before[:-1], ".extra", ".shstrtab"]
    for section in ELFFile(io.BytesIO(plain)).iter_sections():
        if section.name not in ("", ".bss", ".shstrtab"):
            assert data(elf, section.name) == section.data(), section.name
    assert data(elf, ".extra") == b"content"


def test_device_code_in_every_form() -> None:
    data = fat("libfat.so.1", [offload_bundle(["gfx1100"]), offload_bundle(["gfx942:xnack+"])])
    device = read_device_code(io.BytesIO(data), "libfat.so.1")
    assert [str(code.entry.target) for code in device.code_objects()] == ["gfx1100", "gfx942:xnack+"]
    library = split_off("libsplit.so.1", "lib/libsplit.so.1", "../.kpack/a_@GFXARCH@.kpack")
    reference = read_reference(io.BytesIO(library), facts(library))
    assert reference
    assert (reference.name, reference.paths) == ("lib/libsplit.so.1", ("../.kpack/a_@GFXARCH@.kpack",))
    dll = windows_split_off("bin/split.dll", "../.kpack/a_@GFXARCH@.kpack")
    assert [wrapper.index for wrapper in read_device_code(io.BytesIO(dll), "split.dll").split] == [0, 1]
    reference = read_reference(io.BytesIO(dll), read_pe(io.BytesIO(dll), "split.dll"))
    assert reference
    assert (reference.name, reference.paths) == ("bin/split.dll", ("../.kpack/a_@GFXARCH@.kpack",))
    archive = read_kpack(io.BytesIO(kpack({"lib/libsplit.so.1#0": ["gfx1100"]})), "a.kpack")
    assert [(name, str(target), size) for name, ((target, size),) in archive.items()] == [
        ("lib/libsplit.so.1#0", "gfx1100", 64)
    ]
