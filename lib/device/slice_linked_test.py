"""Slices of files that the machine's own linkers make: loaded, run, stripped, edited further, looked at by others."""

import shutil
import subprocess
import tempfile
from itertools import product
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from develop.testing.device_linked import link_device_code, tells, told, told_compressed
from develop.testing.device_sample import HOST, PREFIX, compressed
from develop.testing.linked_elf import compiler, complaints, facts, linkers, takes
from develop.testing.slice_check import differences
from lib.device.model import DeviceError
from lib.device.slice import DEFAULT_LEVEL, plan_slice
from lib.elf.dynamic_edit import DynamicEdit
from lib.elf.editor import plan_patch
from lib.elf.patch import Patch, Strategy
from lib.elf.patched import then, write_patched
from lib.gpus.target_id import parse_target_id

pytestmark = pytest.mark.skipif(compiler() is None, reason="no C compiler on this machine")

TARGETS = ("gfx906", "gfx1030", "gfx1100")
BUNDLES = [[(HOST, b""), *((PREFIX + name, name.encode() * size) for name in TARGETS)] for size in (3000, 100, 5000)]
KEPT = [[entry for entry in entries if entry[0] in (HOST, f"{PREFIX}gfx1030")] for entries in BUNDLES]
KINDS = {"library.so": ("-shared", "-fPIC"), "pie": ("-pie", "-fPIE"), "program": ("-no-pie", "-fno-pie")}
OPTIONS = [
    ["-Wl,-z,separate-code", "-Wl,-z,noseparate-code", "-Wl,-z,separate-loadable-segments", "-Wl,--no-rosegment"],
    ["-Wl,-z,relro,-z,now", "-Wl,-z,norelro"],
    ["-Wl,--pack-dyn-relocs=relr", "-Wl,-z,pack-relative-relocs", "-Wl,--apply-dynamic-relocs"],
    ["-Wl,-z,max-page-size=4096", "-Wl,-z,max-page-size=65536", "-Wl,-z,max-page-size=2097152"],
    ["-Wl,--hash-style=sysv", "-Wl,--hash-style=gnu", "-Wl,--hash-style=both"],
    ["-Wl,--build-id=sha1", "-Wl,--build-id=none"],
    ["-s", "-g", "-Wl,--export-dynamic"],
]
LONG = ["$ORIGIN/" + "x" * 300]


def slice_of(source: Path, output: Path, *targets: str, level: int = DEFAULT_LEVEL) -> Patch:
    """Slice a file; the slice must be as `slice_check` wants it, and others must not complain of it."""
    wanted = list(map(parse_target_id, targets))
    with source.open("rb") as file:
        patch = plan_slice(file, str(source), wanted, level=level)
        write_patched(patch, file, str(output))
    with source.open("rb") as old, output.open("rb") as new:
        assert list(differences(old, new, wanted)) == []
    # mold says of .bss that it is at file offset 0: eu-elflint looks for it in the segment that is there.
    added = complaints(output) - complaints(source)
    assert [text for text in added if not (".bss' not fully" in text and b"\0mold " in source.read_bytes())] == []
    return patch


@pytest.mark.parametrize(("linker", "kind"), list(product(linkers(), KINDS)))
@pytest.mark.parametrize("exported", [False, True])
def test_what_is_loaded(tmp_path: Path, linker: str, kind: str, exported: bool) -> None:
    source = link_device_code(tmp_path / kind, BUNDLES, *KINDS[kind], linker=linker, exported=exported)
    assert tells(source) == told(BUNDLES)
    output = tmp_path / f"sliced-{kind}"
    slice_of(source, output, "gfx1030")
    assert tells(output) == told(KEPT)
    assert output.stat().st_size < source.stat().st_size - 30_000
    slice_of(output, tmp_path / f"again-{kind}", "gfx1030")
    assert (tmp_path / f"again-{kind}").read_bytes() == output.read_bytes()


@pytest.mark.parametrize("page", [4096, 65536, 2097152])
@pytest.mark.parametrize(("linker", "kind"), list(product(linkers(), KINDS)))
def test_compressed_bundles(tmp_path: Path, linker: str, kind: str, page: int) -> None:
    """The section grows, and moves to the end of the address space; a slice of the slice shrinks there."""
    worst = -(1 << 17)  # zstd's level that compresses least
    options = (*KINDS[kind], f"-Wl,-z,max-page-size={page}")
    source = link_device_code(tmp_path / kind, BUNDLES, *options, linker=linker, packed=compressed)
    output, again = tmp_path / f"sliced-{kind}", tmp_path / f"again-{kind}"
    assert tells(source) == told_compressed(source)
    slice_of(source, output, *TARGETS[:2], level=worst)
    assert tells(output) == told_compressed(output)
    before, after = facts(source), facts(output)
    assert after.loads[-1].vaddr > before.loads[-1].memory_end
    slice_of(output, again, "gfx1030")
    assert tells(again) == told_compressed(again)


@pytest.mark.parametrize("strip", [name for name in ("strip", "eu-strip", "llvm-strip") if shutil.which(name)])
@pytest.mark.parametrize("linker", linkers())
def test_stripped(tmp_path: Path, linker: str, strip: str) -> None:
    source = link_device_code(tmp_path / "library.so", BUNDLES, "-shared", "-fPIC", "-g", linker=linker)
    output, stripped = tmp_path / "sliced.so", tmp_path / "stripped.so"
    slice_of(source, output, "gfx1030")
    subprocess.run([strip, "-o", stripped, output], check=True, capture_output=True)
    assert tells(stripped) == told(KEPT)


@pytest.mark.parametrize("linker", linkers())
def test_with_an_edit_in_one_pass(tmp_path: Path, linker: str) -> None:
    """What both edits give together is what one gives after the other."""
    source = link_device_code(tmp_path / "library.so", BUNDLES, "-shared", "-fPIC", linker=linker)
    both, sliced, edited = (tmp_path / name for name in ("both.so", "sliced.so", "edited.so"))
    path = DynamicEdit(tuple(LONG))
    with source.open("rb") as file:
        patch = plan_slice(file, str(source), [parse_target_id("gfx1030")])
        write_patched(patch, file, str(sliced))
        patch = then(patch, file, lambda elf, between: plan_patch(elf, between, path))
        write_patched(patch, file, str(both))
        assert patch.source_size == source.stat().st_size
    with sliced.open("rb") as file:
        write_patched(plan_patch(facts(sliced), file, path), file, str(edited))
    assert both.read_bytes() == edited.read_bytes()
    assert facts(both).rpath == LONG[0]
    assert tells(both) == told(KEPT)
    assert complaints(both) <= complaints(source)


@pytest.mark.parametrize("linker", linkers())
def test_a_small_section_stays_as_large(tmp_path: Path, linker: str) -> None:
    small = [[(HOST, b""), *((PREFIX + name, b"code") for name in ("gfx1030", "gfx1100"))]]
    source = link_device_code(tmp_path / "library.so", small, "-shared", "-fPIC", linker=linker)
    output = tmp_path / "sliced.so"
    patch = slice_of(source, output, "gfx1030")
    assert patch.strategy is Strategy.RESIZED
    assert tells(output) == told([small[0][:2]])


def test_relocations_that_were_kept(tmp_path: Path) -> None:
    """What the message says to do helps."""
    source = link_device_code(tmp_path / "library.so", BUNDLES, "-shared", "-fPIC", "-Wl,--emit-relocs")
    output, stripped = tmp_path / "sliced.so", tmp_path / "stripped.so"
    with pytest.raises(DeviceError, match="take them out with strip"):
        slice_of(source, output, "gfx1030")
    subprocess.run(["strip", "-o", stripped, source], check=True, capture_output=True)
    slice_of(stripped, output, "gfx1030")
    assert tells(output) == told(KEPT)


def options_of(linker: str) -> st.SearchStrategy[tuple[str, ...]]:
    """Make sets of options: each kind is given or left out, and none is given that the linker does not know."""
    known = [[option for option in choices if takes(linker, "x86_64", option)] for choices in OPTIONS]
    return st.tuples(*(st.sampled_from([None, *choices]) for choices in known)).map(
        lambda options: tuple(option for option in options if option is not None)
    )


@pytest.mark.parametrize("linker", linkers())
def test_odd_options(linker: str) -> None:
    @settings(max_examples=15, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(options_of(linker), st.sampled_from(list(KINDS)), st.booleans(), st.sampled_from(TARGETS))
    def check(options: tuple[str, ...], kind: str, exported: bool, target: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            source, output = Path(folder, kind), Path(folder, f"sliced-{kind}")
            try:
                link_device_code(source, BUNDLES, *KINDS[kind], *options, linker=linker, exported=exported)
            except subprocess.CalledProcessError:
                reject()
            slice_of(source, output, target)
            kept = [[entry for entry in entries if entry[0] in (HOST, PREFIX + target)] for entries in BUNDLES]
            if (before := tells(source)) == told(BUNDLES):
                assert tells(output) == told(kept)
            else:  # glibc wants libraries with DT_RELR to say so, which lld and mold may not do
                assert tells(output) == [line.replace(str(source), str(output)) for line in before]

    check()
