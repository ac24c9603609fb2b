"""Examples of the reference, quoted from files that tests build: none is written for the reference alone."""

import ast
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from develop.reference.starlark import StarlarkError, Workspace, function_of, keywords, literal

_SDK: Final = "tests/e2e/consumer/acme/sdk/BUILD.bazel"
_WHEELS: Final = "tests/e2e/consumer/acme/wheels/BUILD.bazel"
_PACKAGES: Final = "tests/e2e/consumer/acme/wheels/packages.bzl"
_TARGETS: Final = "packaging/package_targets.bzl"
_HIP: Final = "hip/examples/programs/BUILD.bazel"
_HIP_SDK: Final = "hip/tests/sdk/BUILD.bazel"
_HIP_WHEEL: Final = "hip/examples/wheel/BUILD.bazel"
_GPUS: Final = "examples/gpu_packages/BUILD.bazel"
_TWO: Final = "examples/packages/BUILD.bazel"


@dataclass(frozen=True)
class Example:
    """A call in a file: the one with this `name =` (or `id =`), or the first one if there is none."""

    path: str
    target: str = ""


#: Name of the rule, macro or tag -> its example.
EXAMPLES: Final = {
    "artifacts.debian": Example("tests/e2e/consumer/acme/MODULE.bazel", "acme_debian"),
    "artifacts.directory": Example("tests/e2e/consumer/acme/MODULE.bazel", "acme_prebuilt"),
    "catalogued_artifact": Example("tests/analysis/package_tests.bzl"),
    "git.commit": Example("tests/e2e/consumer/acme/MODULE.bazel", "acme_commit"),
    "hip_binary": Example(_HIP, "show"),
    "hip_code_object": Example(_HIP, "scale"),
    "hip_compile_commands": Example(_HIP, "compile_commands"),
    "hip_library": Example(_HIP, "saxpy"),
    "hip_no_toolchain": Example(_HIP_SDK, "no_compiler"),
    "hip_targets": Example(_HIP_SDK, "targets"),
    "hip_test": Example(_HIP, "saxpy_test"),
    "hip_toolchain": Example(_HIP_SDK, "hip_compiler"),
    "hip_wheel": Example(_HIP_WHEEL, "thin"),
    "rocm.artifacts": Example("tests/e2e/consumer/acme/MODULE.bazel", "acme_artifacts"),
    "rocm.debian": Example("MODULE.bazel", "own_debian_rocm"),
    "rocm.lock": Example("MODULE.bazel", "own_rocm_locked"),
    "hip.sdk": Example("hip/examples/programs/MODULE.bazel"),
    "rocm.selection": Example("MODULE.bazel", "own_rocm_selection"),
    "rocm.version": Example("MODULE.bazel", "own_rocm_version"),
    "sdk_artifact": Example(_SDK, "tools_run_generic"),
    "rocm_coverage": Example(_PACKAGES, "coverage"),
    "sdk_index": Example(_TWO, "dist"),
    "sdk_install_scheme": Example(_TWO, "venv"),
    "sdk_install_test": Example(_WHEELS, "install_test"),
    "sdk_layer": Example(_TWO, "core_layer"),
    "sdk_package": Example(_TWO, "runtime"),
    "sdk_provenance": Example("packaging/rocm_packages.bzl"),
    "sdk_reports": Example("examples/another_sdk/wheels/packages.bzl", "reports"),
    "sdk_requiring_wheel": Example("tests/mini/requiring_wheel/BUILD.bazel", "requiring"),
    "sdk_runtime": Example("examples/another_sdk/wheels/packages.bzl", "libraries"),
    "sdk_sdist": Example("packaging/selector.bzl"),
    "sdk_split_wheel": Example("tests/mini/split_wheel/BUILD.bazel", "thin"),
    "sdk_static_wheel": Example("wheels/BUILD.bazel", "wheel"),
    "rocm_library": Example(_HIP_SDK, "rocrand"),
    "rocm_program": Example(_HIP_SDK, "rocminfo"),
    "rocm_shared_library": Example(_HIP_SDK, "lib/librocrand.so.1"),
    "sdk_gpu_package": Example(_TARGETS),
    "sdk_gpu_packages": Example(_TARGETS),
    "sdk_selector": Example(_GPUS, "acme"),
    "sdk_version": Example(_TWO, "version"),
    "sdk_wheel": Example(_TWO, "runtime_wheel"),
    "sdk_wheel_set_test": Example(_WHEELS, "dist_test"),
    "sdk_wheel_test": Example("tests/wheel_test/BUILD.bazel", "core_test"),
    "verify_exception": Example("tests/wheel_test/BUILD.bazel", "D103"),
}


def quoted(workspace: Workspace, name: str) -> str:
    """Return the text of a name's example. Raises StarlarkError if its file has no such call."""
    example = EXAMPLES[name]
    tree = workspace.tree(example.path)
    for call in _calls(tree, name):
        arguments = keywords(call)
        target = next((literal(arguments[key]) for key in ("name", "id") if key in arguments), "")
        if not example.target or target == f'"{example.target}"':
            lines = workspace.text(example.path).splitlines()[call.lineno - 1 : call.end_lineno]
            lines[0] = " " * call.col_offset + lines[0][call.col_offset :]
            lines[-1] = lines[-1].rstrip(",)") + ")"
            return textwrap.dedent("\n".join(lines))
    raise StarlarkError(f"{example.path}: no {name}({example.target}); EXAMPLES of {__name__} names one")


def _calls(tree: ast.Module, name: str) -> Iterator[ast.Call]:
    """Yield the calls of a rule, or of a tag of an extension by whatever name that has, in the file's order."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    for call in sorted(calls, key=lambda one: one.lineno):
        called = function_of(call)
        if called == name or ("." in name and called.partition(".")[2] == name.partition(".")[2] != ""):
            yield call
