"""Providers of HIP targets: toolchains, shared libraries, commands, relocatable device code."""

visibility(["//hip", "//hip/private"])

HipCommandsInfo = provider(
    doc = "How the HIP sources of a target are compiled for the host.",
    fields = {
        "files": "depset of File: the file of arguments that `library` names, sources, and headers.",
        "library": "JSON (string): `arguments`, path of a file with one argument a line; `compiler`, path; `sources`, list of `file`, `output` and `options`.",
    },
)

HipInfo = provider(
    doc = "Device code of a library and of those that it depends on.",
    fields = {
        "code_objects": "depset of struct(label: Label of the library, source: File, target: GPU target (string), file: File): linked device code, an ELF file for each source that is not relocatable and each target.",
        "libraries": """Relocatable device code: depset of struct(label: Label, targets: tuple of GPU targets (string), device_objects: tuple of a tuple of File for each
target, LLVM bitcode; host_objects: tuple of File, object files that refer to the linked device code).""",
        "links": "depset of struct(label: Label, libraries: tuple of Label): which library has linked the device code of which.",
    },
)

def merge_hip_infos(infos):
    """Returns one HipInfo for several.

    Args:
        infos: list of HipInfo.

    Returns:
        HipInfo.
    """
    return HipInfo(
        code_objects = depset(transitive = [info.code_objects for info in infos]),
        libraries = depset(transitive = [info.libraries for info in infos]),
        links = depset(transitive = [info.links for info in infos]),
    )

HipToolchainInfo = provider(
    doc = "A compiler of HIP programs, out of an SDK.",
    fields = {
        "bundler": "File: clang-offload-bundler.",
        "clang": "File: the compiler.",
        "compile": "PyToolInfo of the program that runs compilations, and checks what they include.",
        "device_libraries": "string: directory of the device libraries, relative to the execution root.",
        "environment": "dict: environment of every action.",
        "files": "depset of File: what the programs read: their libraries, the compiler's headers, the device libraries.",
        "headers": "dict from a directory of the SDK's headers to the label of their library (string), for messages.",
        "lld": "File: the linker of device code.",
        "resource_directory": "string: clang's resource directory, relative to the execution root.",
        "root": "string: the SDK's install prefix, relative to the execution root.",
        "runtime": "CcInfo of the HIP runtime: every HIP program is compiled and linked with it.",
        "targets": "list of string: GPU targets to compile for, such as `gfx942` or `gfx90a:xnack+`.",
    },
)

RocmSharedLibraryInfo = provider(
    doc = "A shared library of an SDK.",
    fields = {
        "interface": "File: the interface library, with which programs are linked.",
        "library": "File: the library, with which they run.",
    },
)

# Attributes in which libraries name their dependencies.
EDGES = ["deps", "implementation_deps"]

def hip_infos(attributes):
    """Returns what the dependencies of a target have of relocatable device code.

    Args:
        attributes: `ctx.attr`, or `ctx.rule.attr` of an aspect.

    Returns:
        list of HipInfo.
    """
    return [
        dep[HipInfo]
        for edge in EDGES
        for dep in getattr(attributes, edge, None) or []
        if type(dep) == "Target" and HipInfo in dep
    ]

def _collect_hip_impl(target, ctx):
    infos = [] if HipInfo in target else hip_infos(ctx.rule.attr)
    return [merge_hip_infos(infos)] if infos else []

collect_hip = aspect(
    doc = "Gives libraries of C++ the HipInfo of what they depend on.",
    implementation = _collect_hip_impl,
    attr_aspects = EDGES,
)
