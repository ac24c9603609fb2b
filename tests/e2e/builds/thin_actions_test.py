"""What thin packages make again after a change: real builds, of which the executed actions are counted.

    python3 -m tests.e2e.builds.thin_actions_test

Run it from the top of the workspace; it needs nothing else. A unit is packed once for all packages, and what comes out
as it was for one of them is not linked again.
"""

import os
import unittest

from tests.e2e.builds.counted import BIG, RUN, CountedTest
from tools.lib.device.sample import HOST, PREFIX, Part, Sample, bundle

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


class ThinActionsTest(CountedTest):
    """Each test changes one thing."""

    files = FILES
    options = ("--repo_env=ROCM_LAYOUT=thin", f"--repo_env=ROCM_TARGETS={','.join(TARGETS)}")

    def test_nothing_changed(self) -> None:
        """A second build runs nothing."""
        self.assert_ran(self.build())

    def test_the_code_for_one_target_changed(self) -> None:
        """One library is sliced again; the package of the other target is as it was."""
        self.write("blas_lib_gfx9-all/stage/lib/libblas.so", library(gfx1030=b"other code".ljust(9000)))
        build = self.build()
        self.assert_ran(
            build, RocmInspect=["blas_lib_gfx9-all"], RocmPack=PACKED, RocmSbom=WHEELS[:1], RocmLink=WHEELS[:1]
        )
        (pack,) = build.ran("RocmPack")
        assert "big/stage/lib/libblas.so" in pack.output

    def test_the_host_code_changed(self) -> None:
        """One library is sliced again, for all packages."""
        self.write("blas_lib_gfx9-all/stage/lib/libfft.so", library(host=BIG[::-1]))
        build = self.build()
        self.assert_ran(build, RocmInspect=["blas_lib_gfx9-all"], RocmPack=PACKED, RocmSbom=WHEELS, RocmLink=WHEELS)
        (pack,) = build.ran("RocmPack")
        assert "big/stage/lib/libfft.so" in pack.output

    def test_a_file_of_one_target_changed(self) -> None:
        """It is in its target's package alone."""
        self.write("blas_lib_gfx9-all/stage/lib/kernels/K_gfx90a.co", b"CODE")
        self.assert_ran(
            self.build(),
            RocmInspect=["blas_lib_gfx9-all"],
            RocmPack=["devel", *PACKED],
            RocmSbom=WHEELS[1:],
            RocmLink=WHEELS[1:],
        )


if __name__ == "__main__":
    os.umask(0o022)
    unittest.main(verbosity=2)
