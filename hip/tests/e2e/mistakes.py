"""Mistakes that only real builds show: a part of hip.tests.e2e.programs.

Each is in MODULE.bazel, in a source, or a mistake that Bazel itself refuses. The error names the target or the tag, the
attribute, and what to do. Mistakes that analysis tests show are in hip/tests/mistake_tests.bzl.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.e2e.testing.builds import Workspace

RULES = "@rules_rocm_python//hip:defs.bzl"
HIP_OFF = "--@rules_rocm_python//hip:enabled=false"
#: What the example's MODULE.bazel has of the SDK: the tag, its beginning, and what the module uses.
TAG = 'hip.sdk(\n    artifacts = "@rocm_artifacts//:artifacts.bzl",'
NAMED, USED = "hip.sdk(\n", 'use_repo(hip, "rocm")'
ARTIFACTS = 'use_repo(rocm, "debian_rocm", "rocm_artifacts")'
TARGETS = 'targets = [\n        "gfx1100",'
#: A module beside the project, with an SDK of its own.
MODULE = """
module(name = "{name}")
bazel_dep(name = "rules_rocm_python", version = "0.1.0")
hip = use_extension("@rules_rocm_python//hip:extensions.bzl", "hip")
hip.sdk(path = "/opt/{name}")
use_repo(hip, "rocm")
"""


@dataclass(frozen=True)
class Mistake:
    """What somebody writes, and what the error says."""

    what: str
    expected: tuple[str, ...]
    #: What `//mistake:it` is.
    target: str = 'hip_library(name = "it", srcs = ["it.hip"])'
    source: str = "#include <hip/hip_runtime.h>\n"
    #: Text of MODULE.bazel -> what is there instead.
    module: Mapping[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    load: str = f'load("{RULES}", "hip_binary", "hip_library", "hip_wheel", "requires_hip")'
    #: Further files of the project.
    files: Mapping[str, str] = field(default_factory=dict)


IN_MODULES = (
    Mistake(
        "two libraries with different SDKs",
        (
            'module near: hip.sdk says path = "/opt/near", and module far: hip.sdk says path = "/opt/far"',
            "Declare hip.sdk in your own MODULE.bazel",
        ),
        module={
            NAMED: "".join(
                f'bazel_dep(name = "{name}")\nlocal_path_override(module_name = "{name}", path = "{name}")\n'
                for name in ("near", "far")
            )
            + "UNUSED = dict(\n"
        },
        files={f"{name}/MODULE.bazel": MODULE.format(name=name) for name in ("near", "far")}
        | {f"{name}/BUILD.bazel": "" for name in ("near", "far")},
    ),
    Mistake(
        "an SDK declared twice",
        ("module hip_example: hip.sdk: it is declared twice; expected one SDK. Remove one",),
        module={USED: f'hip.sdk(path = "/opt/rocm")\n{USED}'},
    ),
    Mistake(
        "an SDK from two sources",
        ("it has artifacts and path; expected one of `artifacts`, `path` and `wheels`. Remove all except one",),
        module={TAG: f'{TAG}\n    path = "/opt/rocm",'},
    ),
    Mistake(
        "an SDK from nowhere",
        ("it has no source; expected one of `artifacts`, `path` and `wheels`. Add one",),
        module={TAG: NAMED},
    ),
    Mistake(
        "a forgotten repository of artifacts",
        ("no repository visible as '@rocm_artifacts' to the root module", "in attribute 'artifacts' of tag 'sdk'"),
        module={ARTIFACTS: 'use_repo(rocm, "debian_rocm")'},
    ),
    Mistake(
        "a GPU of another vendor",
        ('hip.sdk: targets: there is no GPU target or family "sm_90"; expected names', "Change `targets`"),
        module={TARGETS: 'targets = [\n        "sm_90",'},
    ),
    Mistake(
        "a relative path",
        ('hip.sdk: "opt/rocm": expected an absolute path',),
        module={TAG: 'hip.sdk(\n    path = "opt/rocm",'},
    ),
    Mistake(
        "no ROCm on the machine",
        ("/no/rocm has no include/hip/hip_runtime.h; expected a directory in which ROCm is installed. Change `path`",),
        module={TAG: 'hip.sdk(\n    path = "/no/rocm",'},
    ),
    Mistake(
        "a forgotten use_repo",
        ("//mistake:it", "No repository visible as '@rocm' from main repository"),
        target='hip_library(name = "it", srcs = ["it.hip"], deps = ["@rocm//:hip"])',
        module={USED: ""},
    ),
)
IN_BUILD_FILES = (
    Mistake(
        "an attribute of rules_cuda",
        ("//mistake:it: no such attribute 'archs' in 'hip_library' rule",),
        target='hip_library(name = "it", srcs = ["it.hip"], archs = ["gfx90a"])',
    ),
    Mistake(
        "a mistyped attribute of a program",
        ("//mistake:it: scrs: hip_binary has no such attribute; expected one of `hip_library` about compilation",),
        target='hip_binary(name = "it", scrs = ["it.hip"])',
    ),
    Mistake(
        "options of C++",
        ("//mistake:it: cxxopts: hip_binary has no such attribute; expected `copts`, because all sources are HIP",),
        target='hip_binary(name = "it", srcs = ["it.hip"], cxxopts = ["-O2"])',
    ),
    Mistake(
        "rules of another file",
        ("does not contain symbol 'hip_library'",),
        load='load("@rules_rocm_python//rules:sdk.bzl", "hip_library")',
    ),
    Mistake(
        "a source in C",
        ("in srcs attribute of hip_library rule //mistake:it: source file '//mistake:it.c' is misplaced here",),
        target='hip_library(name = "it", srcs = ["it.c"])',
        files={"mistake/it.c": ""},
    ),
    Mistake(
        "a dependency that is no library",
        ("in deps attribute of hip_library rule //mistake:it:", "mandatory providers: 'CcInfo'"),
        target='filegroup(name = "files")\nhip_library(name = "it", srcs = ["it.hip"], deps = [":files"])',
    ),
    Mistake(
        "a library that the SDK does not have",
        ("target 'cublas' not declared in package", "//mistake:it"),
        target='hip_library(name = "it", srcs = ["it.hip"], deps = ["@rocm//:cublas"])',
    ),
    Mistake(
        "a wheel that is made twice",
        ("hip_wheel(it): summary and `wheel` are set; expected one of them. Set them where it.whl is made",),
        target='hip_wheel(name = "it", sdk = [], wheel = "it.whl", summary = "a")',
    ),
    Mistake(
        "a target that HIP turned off skips, and that the command names",
        ("//mistake:it is incompatible and cannot be built, but was explicitly requested",),
        target='hip_library(name = "it", srcs = ["it.hip"], target_compatible_with = requires_hip())',
        options=(HIP_OFF,),
    ),
)
IN_SOURCES = (
    Mistake(
        "a source of CUDA",
        ("ERROR: //mistake:it: mistake/it.hip: cuda_runtime.h is a header of CUDA; expected HIP's", "hipify-perl"),
        source="#include <cuda_runtime.h>\n",
    ),
    Mistake(
        "a header of a library of the SDK",
        ("mistake/it.hip: thrust/sort.h is a header of the SDK; expected its library, @rocm//:rocthrust, in `deps`",),
        source="#include <thrust/sort.h>\n",
    ),
    Mistake(
        "device code of another source",
        ("ERROR: //mistake:it: mistake/it.hip: device code calls half_of(float), ", "set `relocatable = True`"),
        source="#include <hip/hip_runtime.h>\n__device__ float half_of(float);\n"
        "__global__ void kernel(float *x) { *x = half_of(*x); }\n",
    ),
)


def check_mistake(workspace: Workspace, mistake: Mistake) -> None:
    """Make a mistake; assert that the build stops, and what the error says."""
    text = "".join([mistake.load, "\n\n", mistake.target, "\n"])
    files = {"mistake/BUILD.bazel": text, "mistake/it.hip": mistake.source, **mistake.files}
    for name, content in files.items():
        (workspace.directory / name).parent.mkdir(exist_ok=True)
        (workspace.directory / name).write_text(content, encoding="utf-8")
    module = workspace.directory / "MODULE.bazel"
    right = module.read_text(encoding="utf-8")
    wrong = right
    for old, new in mistake.module.items():
        assert old in wrong, old
        wrong = wrong.replace(old, new)
    try:
        module.write_text(wrong, encoding="utf-8")
        build = workspace.build("//mistake:it", options=mistake.options)
    finally:
        module.write_text(right, encoding="utf-8")
    assert not build.succeeded, f"{mistake.what}: it was built"
    for words in mistake.expected:
        assert words in build.output, f"{mistake.what}: expected {words!r}:\n{build.output}"


def check_mistakes(workspace: Workspace) -> None:
    """Make all mistakes in a project that has been built."""
    mistakes = (*IN_BUILD_FILES, *IN_SOURCES, *IN_MODULES)
    for mistake in mistakes:
        check_mistake(workspace, mistake)
    (workspace.directory / "mistake/BUILD.bazel").unlink()
    print(f"mistakes: {len(mistakes)}, each with its own sentence", flush=True)
