"""What is built again after a change: real builds, of which the executed actions are counted.

    .ci/run actions

Run it from the top of the workspace; it needs nothing else. The numbers are the ones in "What is rebuilt" in
docs/built/how-it-works.md. Bulk data that is packed although nothing of it changed is a bug, however fast it is.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from develop.testing.elf_sample import Sample
from tests.e2e.builds.counted import BIG, RUN, Sdk, assert_ran, planted
from tests.e2e.testing.builds import built


def library(soname: str, runpath: str | None = None, tail: bytes = b"a comment\0", glibc: str = "2.2.5") -> bytes:
    """Make a library."""
    versions = (("libc.so.6", (f"GLIBC_{glibc}",)),)
    return Sample(soname=soname, runpath=runpath, tail=tail, versions=versions).build()


#: A small SDK: each artifact has small files; two have a big one as well.
FILES = {
    "blas_dev_generic/stage/include/blas.h": b"int blas(void);\n",
    "blas_dev_generic/stage/include/more/types.h": b"typedef int blas_t;\n",
    "blas_lib_generic/stage/lib/libblas.so.1": library("libblas.so.1"),
    "blas_lib_generic/stage/lib/libsolver.so.1": library("libsolver.so.1", tail=BIG),
    "blas_lib_gfx1100/stage/lib/blas/kernels.co": b"code",
    "core-hip_lib_generic/stage/lib/libhip.so.1": library("libhip.so.1"),
    "core-hip_lib_generic/stage/lib/libcompiler.so.1": library("libcompiler.so.1", tail=BIG),
    f"core-hip_lib_generic/stage/share/hip/run{RUN}": b"7.1\n",
    "base_lib_generic/stage/share/therock/therock_manifest.json": b'{"flags": {"KPACK_SPLIT_ARTIFACTS": true}}',
}
PACKAGES = {"core", "devel", "device_gfx1100", "libraries"}
WHEELS = sorted(f"{package}_wheel" for package in PACKAGES)


@pytest.fixture(scope="module")
def sdk() -> Iterator[Sdk]:
    """Lay the SDK out and build it; each test changes one thing and builds again."""
    with planted(FILES) as one:
        yield one


def test_nothing_changed(sdk: Sdk) -> None:
    """A second build runs nothing."""
    assert_ran(sdk.build())


def test_a_header_changed(sdk: Sdk) -> None:
    """Small files of its artifact are packed, for devel, the one package with headers of blas.

    Nobody looked at it before, because of its name, so no fact changes and nothing is planned.
    """
    sdk.write("blas_dev_generic/stage/include/blas.h", b"long blas(void); /* another size */\n")
    ran = sdk.build()
    assert_ran(ran, RocmPack=["devel"], RocmSbom=["devel_wheel"], RocmLink=["devel_wheel"])
    assert "blas_dev_generic/small" in ran.ran("RocmPack")[0].output


def test_a_header_added(sdk: Sdk) -> None:
    """As for a changed header; the catalog looks again, but what it finds of other artifacts is as before."""
    sdk.write("blas_dev_generic/stage/include/added.h", b"int added(void);\n")
    assert_ran(
        sdk.build(),
        RocmInspect=["blas_dev_generic"],
        RocmPlan=["devel"],
        RocmPack=["devel"],
        RocmPlatformTag=["devel_wheel"],
        RocmSbom=["devel_wheel"],
        RocmLink=["devel_wheel"],
    )


def test_a_mode_changed(sdk: Sdk) -> None:
    """Of a mode, only the executable bit counts. Files of other units are not read."""
    header = sdk.directory / "blas_dev_generic/stage/include/more/types.h"
    header.chmod(0o600)
    assert_ran(sdk.build())
    header.chmod(0o755)
    assert_ran(
        sdk.build(),
        RocmPlan=["devel"],
        RocmPack=["devel"],
        RocmPlatformTag=["devel_wheel"],
        RocmSbom=["devel_wheel"],
        RocmLink=["devel_wheel"],
    )


def test_a_fact_changed(sdk: Sdk) -> None:
    """Another RUNPATH of core's library.

    Plans that build on core's are made again, and come out as they were; so do reports on platform tags. Devel's
    pack of the unit opens no file.
    """
    sdk.write("core-hip_lib_generic/stage/lib/libhip.so.1", library("libhip.so.1", runpath="$ORIGIN/elsewhere"))
    ran = sdk.build()
    assert_ran(
        ran,
        RocmInspect=["core-hip_lib_generic"],
        RocmPlan=["core", "devel", "device_gfx1100", "libraries"],
        RocmPack=["core", "devel"],
        RocmPlatformTag=WHEELS,
        RocmSbom=["core_wheel"],
        RocmLink=["core_wheel"],
    )
    for action in ran.ran("RocmPack"):
        assert "core-hip_lib_generic/small" in action.output


def test_a_big_file_changed(sdk: Sdk) -> None:
    """Its own unit and no other, in core; devel links to it, and so has no pack action for it."""
    changed = BIG[:-1000] + bytes(1000)
    sdk.write("core-hip_lib_generic/stage/lib/libcompiler.so.1", library("libcompiler.so.1", tail=changed))
    ran = sdk.build()
    assert_ran(
        ran, RocmInspect=["core-hip_lib_generic"], RocmPack=["core"], RocmSbom=["core_wheel"], RocmLink=["core_wheel"]
    )
    for action in ran.ran("RocmPack") + ran.ran("RocmInspect"):
        assert "core-hip_lib_generic/big/stage/lib/libcompiler.so.1" in action.output


def test_only_the_version_changed(sdk: Sdk) -> None:
    """Distributions are put together anew from what is packed."""
    ran = sdk.build(f"--//packaging:version=7.11.0.dev{RUN}")
    assert_ran(ran, RocmSbom=WHEELS, RocmLink=WHEELS, RocmSdist=["rocm_sdist"])
    sdk.build()  # for the tests that follow


def test_only_the_platform_tag_changed(sdk: Sdk) -> None:
    """The tag is proven, and the wheels are linked under other names."""
    assert_ran(sdk.build("--//packaging:platform_tag=manylinux2014_x86_64"), RocmPlatformTag=WHEELS, RocmLink=WHEELS)
    sdk.build()


def test_a_platform_tag_that_promises_too_much(sdk: Sdk) -> None:
    """Nothing is linked, nor does Bazel's flag against validations help; the error names the value to set."""
    path = "core-hip_lib_generic/stage/lib/libhip.so.1"
    sdk.write(path, library("libhip.so.1", glibc="2.28"))
    options = ("--//packaging:platform_tag=manylinux2014_x86_64", "--norun_validations")
    build = sdk.workspace.build("//packaging:core_wheel", options=options)
    sdk.write(path, FILES[path])
    assert not build.succeeded
    assert not [action for action in build.ran("RocmLink") if action.label.endswith(":core_wheel")]
    assert (
        "ERROR: //packaging:core_wheel: platform tag manylinux2014_x86_64 promises more than the files keep: "
        "lib/libhip.so.1 needs GLIBC_2.28 of libc.so.6. Expected manylinux_2_28_x86_64. "
        "Set --//packaging:platform_tag=manylinux_2_28_x86_64"
    ) in build.output, build.output
    sdk.build()


def test_only_the_compression_changed(sdk: Sdk) -> None:
    """Everything is packed, nothing looked at or planned."""
    ran = sdk.build("--//rules/settings:compression=small")
    assert not ran.ran("RocmInspect") + ran.ran("RocmPlan")
    assert {action.label.partition(":")[2] for action in ran.ran("RocmPack")} == PACKAGES
    sdk.build()


def test_a_library_changed_that_images_have(sdk: Sdk) -> None:
    """The layer of its package is made, and the layers of devel, which could have copies of its programs.

    They come out as they were: in an image, one layer is another one. A push sends what a registry has not.
    """
    images = "//packaging:layers_gfx1100_devel"
    built(sdk.workspace.build(images))
    before = layers(sdk)
    sdk.write("blas_lib_generic/stage/lib/libblas.so.1", library("libblas.so.1", tail=b"another comment\0"))
    ran = built(sdk.workspace.build(images)).ran("RocmLayer")
    made = {action.label.partition(":")[2] for action in ran}
    assert made == {"libraries_layer", "devel_layer", "devel_links_gfx1100_layer"}
    after = layers(sdk)
    assert {name for name in after if after[name] != before[name]} == {"libraries_layer.tar.gz"}


def layers(sdk: Sdk) -> dict[str, bytes]:
    """Return the layers, by file name."""
    directory = Path(sdk.workspace.info("bazel-bin"), "packaging")
    return {path.name: path.read_bytes() for path in directory.glob("*_layer.tar.gz")}
