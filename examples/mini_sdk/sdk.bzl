"""Compiles the libraries and programs of the mini SDK: with zig and without a libc: fast, and the same everywhere.

None has an RPATH that leads to all it needs, as builds leave them that never ran where they
lie: the packages must give them theirs, or nothing loads.
"""

load("//tools/zig:zig_cc_binary.bzl", "zig_cc_binary")

visibility("private")

_FREESTANDING = ["-nostdlib", "-rtlib=none"]

def _binary(name, source, defines, needs, linkopts, **kwargs):
    zig_cc_binary(
        name = name,
        srcs = ["src/" + source, "src/device_code.h", "src/freestanding.h", "src/split_off.h"],
        additional_linker_inputs = needs,
        copts = ["-ffreestanding", "-fno-stack-protector", "-O1"],
        linkopts = _FREESTANDING + ["$(execpath {})".format(library) for library in needs] + linkopts,
        local_defines = defines,
        **kwargs
    )

def sdk_library(name, library, soname = None, calls = None, needs = [], defines = []):
    """Declares a shared library.

    Args:
        name: file name of the library.
        library: what its functions' names begin with.
        soname: DT_SONAME, or None for none.
        calls: the library whose function it calls.
        needs: target of that library.
        defines: further macros.
    """
    _binary(
        name = name,
        source = "library.c",
        defines = ["NAME=" + library] + (["NEXT=" + calls] if calls else []) + defines,
        needs = needs,
        linkopts = ["-Wl,-soname," + soname] if soname else [],
        linkshared = True,
    )

def sdk_program(name, calls, needs, runpath = []):
    """Declares a program that calls one library.

    Args:
        name: file name of the program.
        calls: the library whose function it calls.
        needs: target of that library.
        runpath: DT_RUNPATH entries.
    """
    _binary(
        name = name,
        source = "program.c",
        defines = ["NEXT=" + calls],
        needs = needs,
        # Without a libc nobody else names the loader. Programs find libraries of libraries when they are linked; here they need not.
        linkopts = ["-Wl,--allow-shlib-undefined"] + ["-Wl,-rpath," + entry for entry in runpath] + select({
            "@platforms//cpu:aarch64": ["-Wl,--dynamic-linker=/lib/ld-linux-aarch64.so.1"],
            "@platforms//cpu:x86_64": ["-Wl,--dynamic-linker=/lib64/ld-linux-x86-64.so.2"],
        }),
    )
