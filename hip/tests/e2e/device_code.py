"""Tests which device code of an SDK's libraries comes with programs: a part of hip.tests.e2e.programs.

A C++ program with rocRAND, whose library has code for many GPUs, finds code for the targets alone beside it. For other
targets the library is sliced again, and nothing is linked.
"""

from collections.abc import Sequence
from pathlib import Path

from lib.device.reader import read_device_code
from lib.gpus.target_id import can_load, parse_target_id
from tests.e2e.testing.builds import Workspace, built

BUILD = """
cc_binary(
    name = "random",
    srcs = ["random.cc"],
    deps = ["@rocm//:rocrand"],
)
"""
SOURCE = """
#include <cstdio>
#include <rocrand/rocrand.h>

int main() {
  int version = 0;
  const auto status = rocrand_get_version(&version);
  std::printf("rocrand %d: %d\\n", version, status);
  return status;
}
"""
LIBRARY = "*rocm/prefix/lib/librocrand.so.1"


def targets_of(library: Path) -> set[str]:
    """Return the processors that a library has code for."""
    with library.open("rb") as file:
        codes = read_device_code(file, str(library)).code_objects()
        return {code.entry.target.processor for code in codes if code.entry.target}


def check_device_code(workspace: Workspace, given: Sequence[str], targets: tuple[str, ...], fewer: str) -> None:
    """Build the program for the project's targets, and for one of them alone; run it with the options `given`."""
    with (workspace.directory / "BUILD.bazel").open("a", encoding="utf-8") as file:
        file.write(BUILD)
    (workspace.directory / "random.cc").write_text(SOURCE, encoding="utf-8")
    option = f"--@rocm//:targets={fewer}"
    for wanted, options, linked in ((targets, (), 1), ((fewer,), (option,), 0)):
        build = built(workspace.build("//:random", options=options))
        links = [action for action in build.ran("CppLink") if action.output.endswith("/random")]
        assert (len(build.ran("HipSlice")), len(links)) == (1, linked), build.actions
        (library,) = Path(workspace.info("bazel-bin")).glob(f"random.runfiles/{LIBRARY}")
        (whole,) = Path(workspace.info("output_base"), "external").glob(LIBRARY)
        found, every = targets_of(library), targets_of(whole)
        assert found < every, f"{sorted(found)}: not less than {sorted(every)}"
        for code in found:
            assert any(can_load(parse_target_id(code), parse_target_id(target)) for target in wanted), code
        sizes = [path.stat().st_size for path in (whole, library)]
        print(f"{library.name}: for {len(every)} targets {sizes[0]:,} bytes; for {', '.join(found)} {sizes[1]:,} bytes")
        result = workspace.run("run", *given, *options, "//:random")
        assert result.returncode == 0, result.stdout
        assert ": 0" in result.stdout, result.stdout
