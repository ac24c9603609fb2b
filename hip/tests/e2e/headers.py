"""Tests which headers HIP sources may include, and what a changed header recompiles: a part of hip.tests.e2e.programs.

A header that no target declares stops the build wherever it is found, as it does for `cc_binary`; a declared header
that a compilation did not read compiles nothing again.
"""

from collections.abc import Sequence
from pathlib import Path

from tests.e2e.testing.builds import Build, Workspace, built

BUILD = """
load("@rules_rocm_python//hip:defs.bzl", "hip_library")

hip_library(
    name = "checked",
    srcs = ["checked.hip"],
    hdrs = glob(["first/*.h", "second/*.h"], exclude = ["**/hidden.h"], allow_empty = True),
    copts = [%s],
    includes = ["first", "second"],
    targets = ["gfx90a"],
)

cc_binary(
    name = "plain",
    srcs = ["plain.cc"],
    copts = [%s],
)
"""
SOURCE = """\
%s
#include <hip/hip_runtime.h>
#include <found.h>
#if __has_include(<asked.h>)
#include "second/../first/used.h"
#endif
#ifndef __HIP_DEVICE_COMPILE__
#include <host.h>
#endif
__global__ void checked(int *result) { *result = FOUND + USED; }
"""
HEADERS = {
    "first/asked.h": "",
    "first/host.h": "static int host = 1;\n",
    "first/unused.h": "#error not to be read\n",
    "first/used.h": "#define USED 1\n",
    "second/found.h": "#define FOUND 1\n",
    "second/hidden.h": "#define HIDDEN 1\n",
}
COMPILED = ("HipCompileDevice", "HipCompileHost")
LOCAL = ("--spawn_strategy=local",)
REFUSED = "undeclared inclusion(s)"
#: The compilation of a source that includes a header -> the condition around the #include.
SIDES = {"HipCompileDevice": "#ifdef __HIP_DEVICE_COMPILE__", "HipCompileHost": "#ifndef __HIP_DEVICE_COMPILE__"}


def write(package: Path, line: str = "", copts: str = "") -> None:
    """Write what is compiled: the source begins with a line."""
    (package / "BUILD.bazel").write_text(BUILD % (copts, copts), encoding="utf-8")
    (package / "checked.hip").write_text(SOURCE % line, encoding="utf-8")
    (package / "plain.cc").write_text(f"{line}\nint main() {{}}\n", encoding="utf-8")


def compiled(build: Build) -> list[str]:
    """Return the mnemonics of the compilations that a build ran."""
    return [name for name in COMPILED for _ in built(build).ran(name)]


def check_refused(workspace: Workspace, package: Path, elsewhere: Path) -> None:
    """Include headers that no target declares, in the three ways that the compiler finds them."""
    header = elsewhere / "elsewhere.h"
    ways: tuple[tuple[str, str, str, str, Sequence[str]], ...] = (
        ("-I", "#include <elsewhere.h>", f'"-I{elsewhere}"', str(header), ()),
        ("an absolute path", f'#include "{header}"', "", str(header), ()),
        ("beside the source", '#include "second/hidden.h"', "", "headers/second/hidden.h", LOCAL),
    )
    for what, line, copts, name, options in ways:
        write(package, line, copts)
        plain = workspace.build("//headers:plain", options=tuple(options))
        assert not plain.succeeded, f"{what}: cc_binary: {plain.output}"
        assert Path(name).parent.name in plain.output, plain.output
        for mnemonic, condition in SIDES.items():
            write(package, f"{condition}\n{line}\n#endif", copts)
            build = workspace.build("//headers:checked", options=tuple(options))
            assert not build.succeeded, f"{what}, {mnemonic}: a header that no target declares was compiled"
            expected = f"//headers:checked: {REFUSED}: headers/checked.hip includes files that no target declares:"
            assert f"{expected}\n  '{name}'\nExpected only declared headers" in build.output, build.output
        print(f"{what}: refused, for GPUs and for the host", flush=True)
    (package / "first/unused.h").write_text(f'#include "{header}"\n', encoding="utf-8")
    write(package, "#include <unused.h>")
    build = workspace.build("//headers:checked")
    assert f"  '{header}' (included by 'headers/first/unused.h')\n" in build.output, build.output


def check_changed(workspace: Workspace, package: Path) -> None:
    """Change headers: those that a compilation did not read run nothing."""

    def change(what: str, path: str, content: str, *expected: str) -> None:
        (package / path).write_text(content, encoding="utf-8")
        found = compiled(workspace.build("//headers:checked"))
        assert found == list(expected), f"{what}: expected {expected}; ran {found}"
        print(f"{what}: {', '.join(found) or 'nothing'}", flush=True)

    write(package)
    assert compiled(workspace.build("//headers:checked")) == list(COMPILED)
    change("a header that no source includes", "first/unused.h", "#error nor to be read now\n")
    workspace.run("shutdown")
    change("the same, in a new server", "first/unused.h", "#error nor ever\n")
    change("a header that the host includes", "first/host.h", "static int host = 2;\n", "HipCompileHost")
    change("a header that all include", "first/used.h", "#define USED 2\n", *COMPILED)
    # What the bundle has changed, so the host embeds it.
    change("a new header that is found before another", "first/found.h", "#define FOUND 3\n", *COMPILED)
    change("the header that is not found any more", "second/found.h", "#define FOUND 4\n")
    change("an unused header, again", "first/unused.h", "#define LATER 1\n")
    change("a header includes it", "first/used.h", "#include <unused.h>\n#define USED LATER\n", *COMPILED)
    change("it is used now", "first/unused.h", "#define LATER 2\n", *COMPILED)
    # clang does not list what assembly reads.
    write(package, 'asm(".incbin \\"headers/first/asked.h\\"");')
    assert compiled(workspace.build("//headers:checked")) == list(COMPILED)
    change("what assembly reads", "first/asked.h", "text\n", *COMPILED)


def check_headers(workspace: Workspace, elsewhere: Path) -> None:
    """Add a package to the project, and change what it includes; `elsewhere` is a directory outside."""
    package = workspace.directory / "headers"
    for name, content in HEADERS.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(content, encoding="utf-8")
    elsewhere.mkdir()
    (elsewhere / "elsewhere.h").write_text("#define ELSEWHERE 1\n", encoding="utf-8")
    check_refused(workspace, package, elsewhere)
    check_changed(workspace, package)
    # Without a sandbox, nothing else is read.
    assert compiled(workspace.build("//:saxpy", options=(*LOCAL, "--compilation_mode=opt"))).count(COMPILED[1]) == 1
