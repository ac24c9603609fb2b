"""Tests of what a package holds of each artifact."""

import hashlib

from develop.testing.artifacts import artifact, file, library, link, program
from lib.pack.segment import Packed
from lib.plan.model import Definition, Plan
from tools.actions.plan.tool import make_plan
from tools.actions.sbom.tool import Contents, contents, digest

CORE = Definition("core", "runtime", "_core", exclude=("share/left-out",))
PATTERNS = ("share/doc/**/LICENSE*", "share/doc/**/copyright")


def core() -> Plan:
    """Plan a package of three artifacts; it holds nothing of the last."""
    hip = artifact(
        "core-hip_lib_generic",
        library("lib/libhip.so.1", "libhip.so.1"),
        link("lib/libhip.so", "libhip.so.1"),
        file("share/doc/hip/LICENSE.md"),
        file("share/doc/hip/more/copyright"),
    )
    llvm = artifact("amd-llvm_run_generic", program("bin/clang"), link("bin/clang++", "clang"), file("share/LICENSE"))
    return make_plan(CORE, [llvm, hip, artifact("blas_lib_gfx942:xnack+", file("share/left-out"))], [])


def packed(plan: Plan) -> dict[str, Packed]:
    """Make the index entries of all packed files, each of 10 bytes, with digests made up."""
    files = [entry.path for entry in plan.entries if entry.is_packed_file]
    return {path: Packed(path, "0644", 0, 5, 10, 0, hashlib.sha256(path.encode()).hexdigest()) for path in files}


def test_contents_by_artifact() -> None:
    files = packed(core())
    assert contents(core(), files, PATTERNS) == [
        Contents(
            "amd-llvm_run_generic", 3, 30, digest(files[path] for path in ("bin/clang", "bin/clang++", "share/LICENSE"))
        ),
        Contents(
            "core-hip_lib_generic",
            4,
            40,
            digest(files[path] for path in files if "hip" in path),
            ("share/doc/hip/LICENSE.md", "share/doc/hip/more/copyright"),
        ),
    ]


def test_the_digest_is_that_of_what_sha256sum_prints() -> None:
    """Defined so that anyone can make it again: `cd TREE && sha256sum PATHS… | sha256sum`, the paths sorted."""
    one = {path: Packed(path, "0644", 0, 5, 10, 0, 64 * digit) for path, digit in (("b/x", "1"), ("a", "2"))}
    text = f"{'2' * 64}  a\n{'1' * 64}  b/x\n"
    assert digest(one.values()) == hashlib.sha256(text.encode()).hexdigest()


def test_one_byte_changes_the_digest() -> None:
    before = Packed("a", "0644", 0, 5, 10, 0, "1" * 64)
    after = Packed("a", "0644", 0, 5, 10, 0, "1" * 63 + "2")
    assert digest([before]) != digest([after])
