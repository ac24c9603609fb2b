"""Tests of the layout, on packages that are made here, and of the table: every package has a place."""

from pathlib import Path

import pytest

from develop.real_rocm.debian_artifacts import lay_out, link_text
from develop.real_rocm.releases import RELEASES, SYSTEM, rule_of

LIBRARY = "usr/lib/x86_64-linux-gnu"
ROCM7 = RELEASES[7]
BLAS = "libs/rocblas/stage"
LLVM = "compiler/amd-llvm/stage"


class Unpacked:
    """Unpacked packages in the making."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def add(self, package: str, *files: str, **links: str) -> None:
        """Add a package of files, whose content is their name, and of links; `__` in a name is a slash."""
        for path in files:
            file = self.directory / package / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(path)
        for name, text in links.items():
            link = self.directory / package / name.replace("__", "/")
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(text)

    def lay_out(self, family: str = "", rocm: int = 7) -> dict[str, str]:
        """Return what is laid out: path -> content, or text of a link behind an arrow. Only what tests plant."""
        output = self.directory.parent / "output"
        lay_out(RELEASES[rocm], list(self.directory.iterdir()), output, family)
        found = {}
        for path in sorted(output.rglob("*")):
            if path.is_symlink():
                found[str(path.relative_to(output))] = f"-> {path.readlink()}"
            elif path.is_file():
                found[str(path.relative_to(output))] = path.read_text()
        return found

    def planted(self, family: str = "", rocm: int = 7) -> dict[str, str]:
        """Return the same without what every layout has."""
        own = (
            "base_lib_generic/base/aux-overlay",
            "rocprofiler-compute_",
            "core-hip_run_generic/core/clr/stage/lib/llvm",
        )
        found = self.lay_out(family, rocm)
        return {
            path: content
            for path, content in found.items()
            if not path.startswith(own) and not path.endswith("artifact_manifest.txt")
        }


@pytest.fixture
def unpacked(tmp_path: Path) -> Unpacked:
    return Unpacked(tmp_path / "unpacked")


KERNELS = f"{LIBRARY}/rocblas/library"
PREFIX = f"{BLAS}/lib/rocblas/library"


def add_blas(unpacked: Unpacked) -> None:
    names = ("K_gfx90a.co", "K-gfx90a-xnack+.hsaco", "K_gfx1100.dat", "K_gfx1100.txt", "K.dat")
    unpacked.add("librocblas5", *(f"{KERNELS}/{name}" for name in names))


def test_split_gives_each_target_its_files(unpacked: Unpacked) -> None:
    add_blas(unpacked)
    assert {path: content.rpartition("/")[2] for path, content in unpacked.planted().items()} == {
        f"blas_lib_generic/{PREFIX}/K.dat": "K.dat",
        f"blas_lib_generic/{PREFIX}/K_gfx1100.txt": "K_gfx1100.txt",
        f"blas_lib_gfx1100/{PREFIX}/K_gfx1100.dat": "K_gfx1100.dat",
        f"blas_lib_gfx90a/{PREFIX}/K-gfx90a-xnack+.hsaco": "K-gfx90a-xnack+.hsaco",
        f"blas_lib_gfx90a/{PREFIX}/K_gfx90a.co": "K_gfx90a.co",
    }


def test_a_family_has_all_of_a_library(unpacked: Unpacked) -> None:
    add_blas(unpacked)
    unpacked.add("hipcc", "usr/bin/hipcc")
    planted = unpacked.planted("gfx-all")
    assert {path.partition("/")[0] for path in planted} == {"blas_lib_gfx-all", "core-hip_run_generic"}
    assert len(planted) == 6


def test_system_libraries_have_a_directory_of_their_own(unpacked: Unpacked) -> None:
    unpacked.add("zlib1g", f"{LIBRARY}/libz.so.1.3", "usr/share/doc/zlib1g/copyright", "usr/share/zlib/notes")
    unpacked.add("libzstd1", "lib/x86_64-linux-gnu/libzstd.so.1")
    place = "sysdeps_lib_generic/third-party/sysdeps/stage/lib/rocm_sysdeps/lib"
    assert set(unpacked.planted()) == {f"{place}/libz.so.1.3", f"{place}/libzstd.so.1"}


def test_what_no_build_has_is_left_out(unpacked: Unpacked) -> None:
    unpacked.add("rocminfo", "usr/bin/rocminfo", "usr/share/man/man1/rocminfo.1", "etc/rocminfo", "var/lib/x")
    unpacked.add("libhipsparselt-dev", f"{LIBRARY}/liborigami.a")
    assert set(unpacked.planted()) == {"core-runtime_run_generic/core/rocminfo/stage/bin/rocminfo"}


def test_links_keep_their_texts_but_for_the_compilers_directory(unpacked: Unpacked) -> None:
    links = {
        "usr__bin__clang-22": "../lib/llvm-22/bin/clang",
        "usr__bin__cc": "/etc/alternatives/cc",
        "usr__lib__llvm-22__lib__libc.so": "../../x86_64-linux-gnu/libc.so",
    }
    unpacked.add("clang-22", "usr/lib/llvm-22/bin/clang", **links)
    artifact = f"amd-llvm_run_generic/{LLVM}"
    assert unpacked.planted() == {
        f"{artifact}/bin/cc": "-> /etc/alternatives/cc",
        f"{artifact}/bin/clang-22": "-> ../lib/llvm/bin/clang",
        f"{artifact}/lib/llvm/bin/clang": "usr/lib/llvm-22/bin/clang",
        f"{artifact}/lib/llvm/lib/libc.so": "-> ../../x86_64-linux-gnu/libc.so",
    }
    assert link_text("../llvm-22/lib/x") == "llvm/lib/x"
    assert link_text("../../../usr/lib/llvm-22/lib/x") == "../lib/llvm/lib/x"


def test_the_first_package_keeps_a_path_and_nothing_goes_through_a_link(unpacked: Unpacked) -> None:
    unpacked.add("clang-22", "usr/lib/llvm-22/share/a", usr__lib__x="elsewhere")
    unpacked.add("lld-22", "usr/lib/llvm-22/share/a", "usr/lib/x/b")
    (unpacked.directory / "lld-22/usr/lib/llvm-22/share/a").write_text("another")
    artifact = f"amd-llvm_run_generic/{LLVM}"
    assert unpacked.planted() == {
        f"{artifact}/lib/llvm/share/a": "usr/lib/llvm-22/share/a",
        f"{artifact}/lib/x": "-> elsewhere",
    }


def test_what_every_layout_has(unpacked: Unpacked) -> None:
    unpacked.add("hipcc", "usr/bin/hipcc")
    about = "base_lib_generic/base/aux-overlay/stage/share/therock"
    split, family = unpacked.lay_out(), unpacked.lay_out("gfx-all")
    assert split[f"{about}/therock_manifest.json"] == '{"flags": {"KPACK_SPLIT_ARTIFACTS": true}}'
    assert family[f"{about}/therock_manifest.json"] == '{"flags": {"KPACK_SPLIT_ARTIFACTS": false}}'
    assert split[f"{about}/dist_info.json"].startswith('{"dist_amdgpu_targets": "gfx942;gfx950;')
    assert split["base_lib_generic/artifact_manifest.txt"] == "base/aux-overlay/stage\n"
    assert split["core-hip_run_generic/core/clr/stage/lib/llvm-22"] == "-> llvm"
    assert "core-hip_run_generic/core/clr/stage/lib/llvm-17" not in unpacked.lay_out(rocm=5)


@pytest.mark.parametrize("rocm", RELEASES)
def test_every_package_has_a_place(rocm: int) -> None:
    release = RELEASES[rocm]
    names = release.names(small=False)
    assert set(names) - set(release.names(small=True)) == set(release.big)
    assert {name for name in names if rule_of(name, release) is SYSTEM} == set(release.system)


def test_a_package_without_a_place() -> None:
    with pytest.raises(KeyError, match="libc6: no rule says where it goes"):
        rule_of("libc6", ROCM7)
