"""The rules with the modules of today, instead of the oldest ones that MODULE.bazel names.

    ROCM_MODULE_SOURCES=DIR .ci/run todays-modules
    python3 -m tests.e2e.modules.todays --sources DIR [--scratch DIR] [STEP ...]

DIR has the sources of modules, unpacked: a folder `NAME/VERSION` each, such as `rules_python/2.3.2`. It needs at least
bazel_features, bazel_skylib, package_metadata, platforms, rules_cc, rules_python and toml.bzl, and must not lie below
/tmp, which is another directory in Bazel's sandbox. A file registry is made
of them. What they name beyond, and no build loads, becomes an empty module. Run it from the top of the workspace, where
bazelw has no Bazel but Debian's: others ask the central registry.

A copy of the workspace asks for these versions. `develop.try_bazel` runs there; its steps can be named, and `pip`:
examples/pip_parse with the wheels of that build, in both layouts of site-packages.
"""

import argparse
import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from develop.try_bazel.__main__ import Bazel, FailedError, tested
from tests.e2e.testing.builds import copy_workspace

STEPS = ("wheels", "tests", "consumer", "pip")
CONSUMER, PIP = "tests/e2e/consumer/acme", "examples/pip_parse"
SETTINGS = "@@rules_python+//python/config_settings"
#: What every project needs where nothing is fetched from GitHub: here, rules_python would fetch an interpreter.
COMMON = ("common --incompatible_use_plus_in_repo_names", f"build --{SETTINGS}:exec_tools_toolchain=disabled")
#: The one dependency of a module that Bazel 7 has built in.
LOCAL_CONFIG_PLATFORM = 'bazel_dep(name = "platforms", version = "0.0.7")'
#: The machine's interpreter, in the words of rules_python 2, for a project without our rules.
REPOSITORIES = "@rules_python//python/local_toolchains:repos.bzl"
LOCAL_PYTHON = f"""
{LOCAL_CONFIG_PLATFORM}

local_runtime_repo = use_repo_rule("{REPOSITORIES}", "local_runtime_repo")

local_runtime_repo(
    name = "local_python",
    interpreter_path = "python3",
    on_failure = "fail",
)

local_runtime_toolchains_repo = use_repo_rule("{REPOSITORIES}", "local_runtime_toolchains_repo")

local_runtime_toolchains_repo(
    name = "local_toolchains",
    runtimes = ["local_python"],
)

register_toolchains("@local_toolchains//:all")
"""
#: The same for ours: tests that set --extra_toolchains would get the interpreter of rules_python.
OUR_PYTHON = '\nregister_toolchains("@host_python//:toolchain")\n'
#: One directory for all packages.
ONE_SITE = (f"--{SETTINGS}:bootstrap_impl=script", f"--{SETTINGS}:venvs_site_packages=yes")


def calls(text: str, function: str) -> Iterator[dict[str | None, ast.expr]]:
    """Yield the keyword arguments of each call of a function in a MODULE.bazel."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == function:
            yield {one.arg: one.value for one in node.keywords}


def dependencies(text: str) -> Iterator[tuple[str, str]]:
    """Yield name and version of each `bazel_dep` that is not for development alone."""
    for call in calls(text, "bazel_dep"):
        given = {key: ast.literal_eval(value) for key, value in call.items()}
        if not given.get("dev_dependency"):
            yield given["name"], given.get("version", "")


def with_version(text: str, version: str) -> str:
    """Return a MODULE.bazel with another version; sources between releases have none, or 0.0.0."""
    for call in calls(text, "module"):
        if old := call.get("version"):
            lines = text.splitlines(keepends=True)
            line = lines[old.lineno - 1]
            lines[old.lineno - 1] = line[: old.col_offset] + repr(version) + line[old.end_col_offset :]
            return "".join(lines)
    return text.replace("module(", f"module(version = {version!r}, ", 1)


def write_registry(sources: Path, registry: Path, asked: list[str]) -> dict[str, str]:
    """Write a file registry of sources, and of empty modules for the rest; return the versions of the sources.

    `asked` has the texts of more MODULE.bazel files whose dependencies must be there.
    """
    own = {path.parent.name: path for path in sorted(sources.glob("*/*")) if (path / "MODULE.bazel").exists()}
    if missing := {"rules_cc", "rules_python"} - own.keys():
        raise FailedError(f"{sources}: no {' and '.join(sorted(missing))}; expected NAME/VERSION/MODULE.bazel")
    if sources.resolve().is_relative_to("/tmp"):
        raise FailedError(f"{sources}: below /tmp, which Bazel's sandbox replaces; expected another directory")
    registry.mkdir(parents=True)
    (registry / "bazel_registry.json").write_text("{}")
    versions = {name: path.name for name, path in own.items()}
    todo = [*versions.items(), *(one for text in asked for one in dependencies(text))]
    done = set()
    while todo:
        name, version = todo.pop()
        if (name, version) in done or not version:
            continue
        done.add((name, version))
        folder = registry / "modules" / name / version
        folder.mkdir(parents=True)
        source = own.get(name, registry / "empty" / name)
        if name in own:  # Under each version that somebody names.
            text = with_version((source / "MODULE.bazel").read_text(encoding="utf-8"), version)
            todo += dependencies(text)
        else:  # A module that no build loads.
            text = f'module(name = "{name}", version = "{version}")\n'
            source.mkdir(parents=True, exist_ok=True)
            (source / "MODULE.bazel").write_text(text)
            (source / "BUILD.bazel").touch()
        (folder / "MODULE.bazel").write_text(text)
        (folder / "source.json").write_text(json.dumps({"type": "local_path", "path": str(source.absolute())}))
    return versions


def ask(module: Path, versions: dict[str, str]) -> None:
    """Let a MODULE.bazel ask for other versions of what it names."""
    text = module.read_text(encoding="utf-8")
    for name, version in versions.items():
        text = re.sub(rf'(bazel_dep\(name = "{re.escape(name)}", version = )"[^"]*"', rf'\1"{version}"', text)
    module.write_text(text, encoding="utf-8")


def prepare(sources: Path, scratch: Path) -> Path:
    """Copy the workspace, with projects that ask for the modules of today; return the copy."""
    copy, registry = scratch / "rules", scratch / "registry"
    for old in (copy, registry):
        shutil.rmtree(old, ignore_errors=True)
    copy_workspace(copy)
    projects = (copy, copy / CONSUMER, copy / PIP)
    modules = [project / "MODULE.bazel" for project in projects]
    # What Debian's Bazel has built in, and its copies of modules.
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    for share in cache.glob("rules_rocm_python/debian-*/usr/share/bazel"):
        modules += [*share.glob("*/MODULE.bazel"), *share.glob("*/*/MODULE.bazel")]
    texts = [*(module.read_text(encoding="utf-8") for module in modules), LOCAL_CONFIG_PLATFORM]
    versions = write_registry(sources.absolute(), registry, texts)
    print(" ".join(f"{name} {version}" for name, version in sorted(versions.items())), flush=True)
    overrides = (f"common --override_module={name}=" for name in versions)
    ours = [f"common --registry=file://{registry}", *overrides, *COMMON]
    for project in projects:
        ask(project / "MODULE.bazel", versions)
        options = ours
        if project.name == Path(CONSUMER).name:
            options = [*ours, "build --extra_toolchains=@@rules_rocm_python++dependencies+host_python//:toolchain"]
        lines = "".join(f"{option}\n" for option in options)
        with (project / ("user.bazelrc" if (project / ".bazelrc").exists() else ".bazelrc")).open("a") as file:
            file.write(lines)
    for project, more in ((copy, OUR_PYTHON), (copy / PIP, LOCAL_PYTHON)):
        with (project / "MODULE.bazel").open("a", encoding="utf-8") as file:
            file.write(more)
    return copy


def check_pip(copy: Path, scratch: Path) -> None:
    """Run the example of pip.parse with the wheels that were built. Raises FailedError."""
    rules = Bazel(copy / "bazelw", scratch, workspace=copy)
    rules.build("main", ".", "build", "//packaging:dist")
    built = Path(rules.run("main", ".", "info", "bazel-bin", "--ui_event_filters=-info").splitlines()[-1])
    rules.shutdown("main", ".")
    wheels = scratch / "wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    shutil.copytree(built / "packaging/dist", wheels)
    requirements = copy / PIP / "requirements.txt"
    text = requirements.read_text(encoding="utf-8")
    requirements.write_text(text.replace("/tmp/rocm-wheels", str(wheels)), encoding="utf-8")
    for layout, options in (("each package in its own directory", ()), ("one site-packages", ONE_SITE)):
        result = tested(rules.build("pip", PIP, "test", "//...", "--test_output=all", *options))
        print(f"pip.parse, {layout}: {result}", flush=True)
    rules.shutdown("pip", PIP)


def main(argv: list[str]) -> int:
    """Run the steps and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("steps", nargs="*", metavar="STEP", help=f"{', '.join(STEPS)}; all if none is named")
    parser.add_argument("--sources", type=Path, required=True, help="a folder with the sources of modules")
    parser.add_argument("--scratch", type=Path, help="a directory for all that is made")
    options = parser.parse_args(argv)
    scratch = (options.scratch or Path(tempfile.mkdtemp(prefix="todays-modules-"))).absolute()
    steps = options.steps or STEPS
    try:
        copy = prepare(options.sources, scratch)
        tried = [one for one in steps if one != "pip"]
        command = (sys.executable, "-B", "-m", "develop.try_bazel", "--bazel=./bazelw", f"--scratch={scratch}", *tried)
        if tried and subprocess.run(command, cwd=copy, check=False).returncode:
            return 1
        if "pip" in steps:
            check_pip(copy, scratch)
    except FailedError as error:
        print(f"ERROR: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
