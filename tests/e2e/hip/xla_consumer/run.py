"""XLA's labels and load statements with the ROCm of `rocm.sdk`: analysed all, and a small kernel built.

    python3 -m tests.e2e.hip.xla_consumer.run --artifacts DIRECTORY [--scratch DIRECTORY]

It copies the rules and the project beside it, and writes the package `uses` of the module that stands for XLA: a load
statement with all symbols that XLA and JAX load from `@local_config_rocm`, and a target for each label (uses.json, by
collect.py). Bazel analyses them; XLA's own repository must not be fetched. Then it builds a kernel, and runs a program.
It works with the artifacts of ROCm 6 or newer, and with the machine's own toolchain for C++.
"""

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.e2e.testing.builds import Workspace, built, copy_workspace

CONSUMER = "tests/e2e/hip/xla_consumer"
_LABEL = "@local_config_rocm//"
#: Labels that are files, or options and platforms of the command line.
_BUILD_DEFS = f"{_LABEL}rocm:build_defs.bzl"
_OPTIONS = (
    f"--extra_toolchains={_LABEL.replace('local_config_rocm', 'rocm_for_xla')}crosstool:toolchain-linux-x86_64",
    f"--{_LABEL.replace('local_config_rocm', 'rocm_for_xla')}rocm:rocm_path_type=link_only",
    "--define=using_rocm_hipcc=true",
)
#: Not offered: docs/hip/xla.md.
_NOT_OFFERED = (f"{_LABEL}crosstool:toolchain",)
#: What a target of C++ cannot depend on, and conditions that it can ask for.
_DATA = ("rocminfo", "toolchain_data")
_NO_DEPENDENCIES = ("build_defs.bzl", "build_defs_bzl", "linux_x64", "rocm_path_type", "toolchain-linux-x86_64")
_CONDITIONS = ("link_only", "using_hipcc")


def uses_text(uses: Mapping[str, Mapping[str, list[str]]]) -> str:
    """Return a BUILD file that loads all symbols and names all labels."""
    symbols = sorted({symbol for one in uses.values() for symbol in one["symbols"]})
    labels = sorted({label for one in uses.values() for label in one["labels"]} - set(_NOT_OFFERED))
    lines = [
        f'load("{_BUILD_DEFS}", {", ".join(map(json.dumps, symbols))})',
        'load("@rules_cc//cc:defs.bzl", "cc_library")',
        'filegroup(name = "symbols", tags = [str(bool(one)) for one in [' + ", ".join(symbols) + "]])",
    ]
    for label in labels:
        name = label.rpartition(":")[2]
        attributes = f"deps = if_rocm_is_configured([{label!r}])"
        if name in _DATA:
            attributes = f"data = [{label!r}]"
        elif name in _CONDITIONS:
            attributes = f"defines = select({{{label!r}: ['A'], '//conditions:default': []}})"
        elif name in _NO_DEPENDENCIES:
            continue
        lines.append(f"cc_library(name = {name!r}, {attributes})")
    return "\n".join([*lines, ""])


def copy_project(directory: Path) -> Path:
    """Copy the workspace to `rules` below a directory, and the project out of it to `consumer`, which is returned."""
    rules, project = directory / "rules", directory / "consumer"
    copy_workspace(rules)
    shutil.copytree(rules / CONSUMER, project)
    module = project / "MODULE.bazel"
    module.write_text(module.read_text().replace('"../../../.."', '"../rules"'))
    (project / "bazelw").write_text('#!/bin/sh\nexec ../rules/bazelw "$@"\n')
    (project / "bazelw").chmod(0o755)
    (project / "xla/uses").mkdir()
    uses = json.loads((project / "uses.json").read_text())
    (project / "xla/uses/BUILD.bazel").write_text(uses_text(uses))
    return project


def check(directory: Path, artifacts: Path) -> None:
    """Analyse the labels, then build and run the program. Raises AssertionError if something fails."""
    # The artifacts may lie below /tmp, which sandboxes hide.
    workspace = Workspace(copy_project(directory), artifacts, options=("--sandbox_add_mount_pair=/tmp",))
    try:
        analysed = built(workspace.build("@xla//uses:all", options=("--nobuild", *_OPTIONS)))
        print(f"labels and symbols of XLA and JAX: analysed in {analysed.seconds:.0f} s")
        program = built(workspace.build("@xla//kernels:run"))
        kinds = [action.mnemonic for action in program.actions]
        assert kinds.count("HipCompileDevice") == 2, kinds
        result = workspace.run(
            "run", f"--repo_env=ROCM_ARTIFACTS_DIR={artifacts}", *workspace.options, "@xla//kernels:run"
        )
        last = result.stdout.splitlines()[-1]
        version, _, error = last.partition(" ")
        assert result.returncode == 0, result.stdout
        assert int(version) >= 50000, result.stdout
        assert error.startswith("hip"), result.stdout
        print(f"a kernel: built in {program.seconds:.0f} s; the program says {last}")
    finally:
        workspace.run("clean", "--expunge")


def main(argv: list[str]) -> int:
    """Run the check."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--artifacts", type=Path, required=True, help="directory of artifacts with HIP and its compiler"
    )
    parser.add_argument("--scratch", type=Path, help="directory to work in; a temporary one by default")
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="rocm-xla-", dir=args.scratch) as directory:
        check(Path(directory), args.artifacts.resolve())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
