"""Writes the files of a repository such as `@rocm`, for the repository rule behind `rocm.sdk`.

    python3 -m tools.fetch.prefix.repository --output DIR --label TEXT [--target TARGET]... [MANIFEST...]

Of the manifests' artifacts it makes the install prefix in `DIR/prefix`; without manifests, an SDK is there already. Then
it writes `DIR/BUILD.bazel`: a library for each CMake package, programs, and the compiler of HIP programs.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tools.fetch.catalog.catalog import report
from tools.fetch.prefix.compiler import find_compiler, toolchain_text
from tools.fetch.prefix.merge import merge

#: The install prefix in the repository.
PREFIX = "prefix"

_HEAD = """\
load("@rules_rocm_python//rules:sdk_repository.bzl", "hip_targets", "hip_toolchain", "rocm_library")

package(default_visibility = ["//visibility:public"])

# The GPU targets and families to compile for.
hip_targets(
    name = "targets",
    build_setting_default = [{targets}],
)
"""

def write(manifests: Sequence[Path], output: Path, targets: Sequence[str]) -> None:
    """Write the repository. Raises CatalogError for an SDK that cannot be used."""
    prefix = output / PREFIX
    if manifests:
        merge(manifests, prefix)
    text = _HEAD.format(targets=", ".join(f'"{target}"' for target in targets))
    text += '''
rocm_library(name="hip", hdrs=glob(["prefix/include/hip/**", "prefix/include/hsa/*"]), includes=["prefix/include"], defines=["__HIP_PLATFORM_AMD__=1"], shared_library="prefix/lib/libamdhip64.so.7", needed=glob(["prefix/lib/rocm_sysdeps/lib/*.so*", "prefix/lib/libamd_comgr.so*","prefix/lib/libhsa-runtime64.so.*", "prefix/lib/librocprofiler-register.so.*","prefix/lib/libLLVM.so.*", "prefix/lib/libclang*"]))
'''
    if compiler := find_compiler(prefix):
        text += toolchain_text(compiler, PREFIX, ":hip")
    (output / "BUILD.bazel").write_text(text, encoding="utf-8")


def main(argv: list[str]) -> int:
    """Run the program; return 1, with one message on standard error, when the input cannot be used."""
    parser = argparse.ArgumentParser(description="Writes the files of a repository with a ROCm SDK.")
    parser.add_argument("--output", type=Path, required=True, help="directory of the repository")
    parser.add_argument("--label", required=True, help="what declares the repository, for errors")
    parser.add_argument("--target", action="append", default=[], help="a GPU target to compile for")
    parser.add_argument("manifests", type=Path, nargs="*", metavar="MANIFEST", help="an artifact's manifest")
    args = parser.parse_args(argv)
    return report(lambda: write(args.manifests, args.output, args.target))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
