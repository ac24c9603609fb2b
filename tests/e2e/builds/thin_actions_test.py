"""What thin packages make again after a change: real builds, of which the executed actions are counted.

    .ci/run thin-actions

Run it from the top of the workspace; it needs nothing else. A unit is packed once for all packages, and what comes out
as it was for one of them is not linked again.
"""

from collections.abc import Iterator

import pytest

from develop.testing.device_sample import HOST, PREFIX, Part, Sample, bundle
from tests.e2e.builds.counted import BIG, RUN, Sdk, assert_ran, planted

TARGETS = ("gfx1030", "gfx90a")
WHEELS = [f"libraries_{target}_wheel" for target in TARGETS]


def library(host: bytes = BIG, **changed: bytes) -> bytes:
    """Make a library with device code for all targets."""
    code = {target: changed.get(target, f"{target} {RUN}".encode().ljust(9000)) for target in TARGETS}
    entries = [(HOST, b""), *((PREFIX + target, code[target]) for target in TARGETS)]
    return Sample((Part(bundle(entries)),)).build() + host


FILES = {
    "blas_lib_gfx9-all/stage/lib/libblas.so": library(),
    "blas_lib_gfx9-all/stage/lib/libfft.so": library(),
    "blas_lib_gfx9-all/stage/lib/kernels/K_gfx1030.co": f"{RUN}".encode(),
    "blas_lib_gfx9-all/stage/lib/kernels/K_gfx90a.co": b"code",
    "blas_lib_gfx9-all/stage/lib/kernels/K.dat": f"{RUN}".encode(),
    f"core-hip_lib_generic/stage/share/hip/run{RUN}": b"7.1\n",
    "base_lib_generic/stage/share/therock/therock_manifest.json": b'{"flags": {"KPACK_SPLIT_ARTIFACTS": false}}',
}
PACKED = ["thin_libraries_gfx9-all"]


OPTIONS = ("--repo_env=ROCM_LAYOUT=thin", f"--repo_env=ROCM_TARGETS={','.join(TARGETS)}")


@pytest.fixture(scope="module")
def sdk() -> Iterator[Sdk]:
    """Lay the SDK out and build it; each test changes one thing and builds again."""
    with planted(FILES, *OPTIONS) as one:
        yield one


def test_nothing_changed(sdk: Sdk) -> None:
    """A second build runs nothing."""
    assert_ran(sdk.build())


def test_the_code_for_one_target_changed(sdk: Sdk) -> None:
    """One library is sliced again; the package of the other target is as it was."""
    sdk.write("blas_lib_gfx9-all/stage/lib/libblas.so", library(gfx1030=b"other code".ljust(9000)))
    build = sdk.build()
    assert_ran(build, RocmInspect=["blas_lib_gfx9-all"], RocmPack=PACKED, RocmSbom=WHEELS[:1], RocmLink=WHEELS[:1])
    (pack,) = build.ran("RocmPack")
    assert "big/stage/lib/libblas.so" in pack.output


def test_the_host_code_changed(sdk: Sdk) -> None:
    """One library is sliced again, for all packages."""
    sdk.write("blas_lib_gfx9-all/stage/lib/libfft.so", library(host=BIG[::-1]))
    build = sdk.build()
    assert_ran(build, RocmInspect=["blas_lib_gfx9-all"], RocmPack=PACKED, RocmSbom=WHEELS, RocmLink=WHEELS)
    (pack,) = build.ran("RocmPack")
    assert "big/stage/lib/libfft.so" in pack.output


def test_a_file_of_one_target_changed(sdk: Sdk) -> None:
    """It is in its target's package alone."""
    sdk.write("blas_lib_gfx9-all/stage/lib/kernels/K_gfx90a.co", b"CODE")
    assert_ran(
        sdk.build(),
        RocmInspect=["blas_lib_gfx9-all"],
        RocmPack=["devel", *PACKED],
        RocmSbom=WHEELS[1:],
        RocmLink=WHEELS[1:],
    )
