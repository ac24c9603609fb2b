"""Tests of unpacking Debian packages into artifacts, on packages that the tests make."""

import os
import shutil
import tarfile
from pathlib import Path

import pytest

from develop.testing.debian_sample import COPYRIGHT, copyright_of, directory, file, hard_link, link, member, write_deb
from lib.common.program import ToolError
from tools.fetch.debian.unpack import Unpacking

pytestmark = pytest.mark.skipif(not shutil.which("dpkg-deb"), reason="only Debian and its kin have dpkg-deb")

LIBRARY = "usr/lib/x86_64-linux-gnu/"
BLAS = "math-libs/rocblas/stage"
LLVM = "compiler/amd-llvm/stage"
SYSDEPS = "third-party/sysdeps/stage"


class Packages:
    """Packages in the making, and the artifacts made of them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.unpacking = Unpacking(root / "artifacts")

    def add(self, name: str, *members: tuple[tarfile.TarInfo, bytes], compression: str = "xz") -> None:
        """Make a package with its licences, and unpack it."""
        members = (directory("usr"), *members, copyright_of(name))
        self.unpacking.add(name, write_deb(self.root / f"{name}.deb", *members, compression=compression))

    def tree(self) -> dict[str, str | bytes]:
        """Finish; return all files and the texts of all links, except the licences."""
        self.unpacking.finish()
        return {
            str(path.relative_to(self.unpacking.directory)): str(path.readlink())
            if path.is_symlink()
            else path.read_bytes()
            for path in sorted(self.unpacking.directory.rglob("*"))
            if (path.is_symlink() or not path.is_dir()) and path.name != "copyright"
        }


@pytest.fixture
def packages(tmp_path: Path) -> Packages:
    return Packages(tmp_path)


@pytest.mark.parametrize("compression", ["", "gz", "xz"])
def test_a_library_and_its_device_code(packages: Packages, compression: str) -> None:
    packages.add(
        "librocblas0",
        file(LIBRARY + "librocblas.so.0.1", b"library"),
        link(LIBRARY + "librocblas.so.0", "librocblas.so.0.1"),
        file(LIBRARY + "rocblas/2/library/TensileLibrary.dat", b"generic"),
        file(LIBRARY + "rocblas/2/library/TensileLibrary_gfx906.co", b"906"),
        file(LIBRARY + "rocblas/2/library/Kernels.so-000-gfx90a-xnack-.hsaco", b"90a"),
        file("usr/share/man/man1/x.1.gz", b"manual"),
        compression=compression,
    )
    assert packages.tree() == {
        f"blas_lib_generic/{BLAS}/lib/librocblas.so.0": "librocblas.so.0.1",
        f"blas_lib_generic/{BLAS}/lib/librocblas.so.0.1": b"library",
        f"blas_lib_generic/{BLAS}/lib/rocblas/2/library/TensileLibrary.dat": b"generic",
        f"blas_lib_gfx906/{BLAS}/lib/rocblas/2/library/TensileLibrary_gfx906.co": b"906",
        f"blas_lib_gfx90a/{BLAS}/lib/rocblas/2/library/Kernels.so-000-gfx90a-xnack-.hsaco": b"90a",
    }
    assert packages.unpacking.artifacts == {"librocblas0": {"blas_lib_generic", "blas_lib_gfx906", "blas_lib_gfx90a"}}
    assert set(packages.unpacking.bases["blas_lib_gfx90a"]) == {BLAS}
    licence = packages.unpacking.directory / "blas_lib_gfx90a" / BLAS / "share/doc/librocblas0-gfx90a/copyright"
    assert licence.read_bytes() == COPYRIGHT


def test_links_lead_where_their_files_have_moved(packages: Packages) -> None:
    packages.add(
        "clang-17",
        file("usr/lib/llvm-17/bin/clang", b"clang", 0o755),
        link("usr/lib/llvm-17/bin/clang++", "clang"),
        link("usr/bin/clang-17", "../lib/llvm-17/bin/clang"),
        link("usr/bin/clang", "/usr/lib/llvm-17/bin/clang"),
        link("usr/bin/cc", "/etc/alternatives/cc"),
        link("usr/include/clang/17/include", "../../../lib/llvm-17/lib/clang/17/include"),
    )
    # A link to a library of another package, which goes elsewhere than its own.
    packages.add("libelf1", file(LIBRARY + "libelf-0.1.so", b"elf"), link(LIBRARY + "libelf.so.1", "libelf-0.1.so"))
    packages.add("llvm-17", link("usr/lib/llvm-17/lib/libelf.so.1", "../../x86_64-linux-gnu/libelf-0.1.so"))
    run = f"amd-llvm_run_generic/{LLVM}"
    assert packages.tree() == {
        f"{run}/bin/clang": "../lib/llvm/bin/clang",
        f"{run}/bin/clang-17": "../lib/llvm/bin/clang",
        f"{run}/include/clang/17/include": "../../../lib/llvm/lib/clang/17/include",
        f"{run}/lib/llvm-17": "llvm",  # hipcc looks for the compiler there
        f"{run}/lib/llvm/bin/clang": b"clang",
        f"{run}/lib/llvm/bin/clang++": "clang",
        f"{run}/lib/llvm/lib/libelf.so.1": "../../rocm_sysdeps/lib/libelf-0.1.so",
        f"sysdeps_lib_generic/{SYSDEPS}/lib/rocm_sysdeps/lib/libelf-0.1.so": b"elf",
        f"sysdeps_lib_generic/{SYSDEPS}/lib/rocm_sysdeps/lib/libelf.so.1": "libelf-0.1.so",
    }


def test_a_link_that_moves_onto_its_own_goal(packages: Packages) -> None:
    packages.add(
        "libllvm17t64",
        file(LIBRARY + "libLLVM-17.so.1", b"llvm"),
        link("usr/lib/libLLVM-17.so.1", "x86_64-linux-gnu/libLLVM-17.so.1"),
    )
    assert packages.tree() == {f"amd-llvm_lib_generic/{LLVM}/lib/libLLVM-17.so.1": b"llvm"}


def test_modes(packages: Packages) -> None:
    packages.add("hipcc", file("usr/bin/hipcc", b"#!", 0o755), file("usr/share/hip/version", b"5", 0o444))
    packages.tree()
    stage = packages.unpacking.directory / "core-hip_run_generic/core/clr/stage"
    assert (stage / "bin/hipcc").stat().st_mode & 0o7777 == 0o755
    assert (stage / "share/hip/version").stat().st_mode & 0o7777 == 0o444


def test_hard_links(packages: Packages) -> None:
    packages.add("hipcc", file("usr/bin/hipcc", b"x"), hard_link("usr/bin/hipcc.bin", "usr/bin/hipcc"))
    tree = packages.tree()
    assert set(tree.values()) == {b"x"}
    assert len(tree) == 2
    with pytest.raises(ToolError, match=r"usr/bin/tool is a hard link to etc/tool, which no artifact has"):
        packages.add("rocminfo", file("etc/tool"), hard_link("usr/bin/tool", "etc/tool"))


def test_licences_of_another_package(packages: Packages) -> None:
    packages.unpacking.add(
        "libhiprand1",
        write_deb(
            packages.root / "a.deb", file(LIBRARY + "libhiprand.so.1"), link("usr/share/doc/libhiprand1", "librocrand1")
        ),
    )
    packages.add("librocrand1", file(LIBRARY + "librocrand.so.1"))
    packages.tree()
    stages = packages.unpacking.directory / "rand_lib_generic/math-libs"
    found = sorted(path.relative_to(stages).parts for path in stages.rglob("copyright"))
    assert [(parts[0], parts[-2]) for parts in found] == [("hiprand", "libhiprand1"), ("rocrand", "librocrand1")]


def test_no_licences(packages: Packages) -> None:
    packages.unpacking.add("hipcc", write_deb(packages.root / "a.deb", file("usr/bin/hipcc")))
    with pytest.raises(
        ToolError, match="hipcc: no licences in usr/share/doc/hipcc/copyright; add hipcc to `packages`, or"
    ):
        packages.unpacking.finish()


def test_licences_that_lead_in_circles(packages: Packages) -> None:
    name = "hipcc"
    circle = link(f"usr/share/doc/{name}", name)
    packages.unpacking.add(name, write_deb(packages.root / "a.deb", file("usr/bin/hipcc"), circle))
    with pytest.raises(ToolError, match="hipcc: no licences"):
        packages.unpacking.finish()


def test_two_packages_with_one_path(packages: Packages) -> None:
    packages.add("clang-17", file("usr/lib/llvm-17/bin/clang"))
    with pytest.raises(
        ToolError, match=r"clang-18: usr/lib/llvm-18/bin/clang goes to lib/llvm/bin/clang, which clang-17 has already"
    ):
        packages.add("clang-18", file("usr/lib/llvm-18/bin/clang"))


def test_one_package_with_one_path_twice(packages: Packages) -> None:
    with pytest.raises(ToolError, match=r"goes to lib/libx.so, which librocblas0 has already"):
        packages.add("librocblas0", file(LIBRARY + "libx.so"), file("usr/lib/libx.so"))


@pytest.mark.parametrize("kind", [tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_what_is_neither_file_nor_link(packages: Packages, kind: bytes) -> None:
    with pytest.raises(ToolError, match="usr/bin/odd is neither a file, a directory nor a link"):
        packages.add("hipcc", (member("usr/bin/odd", kind), b""))


def test_members_that_lead_outside(packages: Packages) -> None:
    with pytest.raises(ToolError, match="leads out of the package; the package is damaged"):
        packages.add("hipcc", file("usr/bin/../../../x"))
    assert not list(packages.root.glob("x"))


def test_a_damaged_package(packages: Packages) -> None:
    whole = write_deb(packages.root / "a.deb", file("usr/bin/hipcc", os.urandom(9999)), compression="gz")
    whole.write_bytes(whole.read_bytes()[:5000])
    with pytest.raises(ToolError, match=r"a\.deb: .*the package is damaged; fetch the repository again"):
        packages.unpacking.add("hipcc", whole)


def test_a_package_without_a_rule(packages: Packages) -> None:
    with pytest.raises(ToolError, match=r"libc6: no rule for it in tools/fetch/debian/table.py; add one"):
        packages.add("libc6")
