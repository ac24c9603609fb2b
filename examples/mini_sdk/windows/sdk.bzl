"""Compiles the DLLs and programs of the mini SDK for Windows: with zig and only kernel32, so fast."""

load("//tools/zig:zig_cc_binary.bzl", "zig_cc_binary")

visibility("private")

_COPTS = ["-ffreestanding", "-fno-builtin", "-fno-stack-protector", "-mno-stack-arg-probe", "-O1"]

def _binary(name, source, defines, needs, linkopts, **kwargs):
    zig_cc_binary(
        name = name,
        srcs = [source],
        additional_linker_inputs = needs,
        copts = _COPTS,
        features = ["-supports_pic"],
        linkopts = ["-nostdlib", "-rtlib=none"] + ["$(execpath {})".format(library) for library in needs] + linkopts,
        local_defines = defines,
        target_compatible_with = ["@platforms//os:windows"],
        **kwargs
    )

def sdk_dll(name, library, calls = None, needs = None):
    """Declares a DLL, and `NAME_import`, its import library.

    Args:
        name: file name of the DLL.
        library: what its functions' names begin with.
        calls: the library whose function it calls.
        needs: target of that DLL.
    """
    _binary(
        name = name,
        source = "library.c",
        defines = ["NAME=" + library] + (["NEXT=" + calls] if calls else []),
        needs = [needs + "_import"] if needs else [],
        linkopts = [],
        linkshared = True,
    )
    native.filegroup(
        name = name + "_import",
        srcs = [name],
        output_group = "interface_library",
    )

def sdk_exe(name, calls = None, needs = None):
    """Declares a program.

    Args:
        name: file name of the program.
        calls: the library whose function it calls, if any.
        needs: target of that DLL.
    """
    _binary(
        name = name,
        source = "program.c",
        defines = ["NEXT=" + calls] if calls else [],
        needs = [needs + "_import"] if needs else [],
        linkopts = ["-lkernel32", "-Wl,-e,start"],
    )
