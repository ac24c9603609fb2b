"""Another project that packages its own SDK with these rules: what it gets, and that nothing of ROCm is in it.

    .ci/run consumer

The project is the folder `acme`. It is copied beside a copy of this workspace, and knows of that by `bazel_dep` alone:
no flag of our .bazelrc reaches it. Run it from the top of the workspace; it needs nothing else but the machine's
python3 with venv, into which the wheels are installed.
"""

import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from email import message_from_string
from pathlib import Path
from zipfile import ZipFile

import pytest

from lib.elf.reader import read_elf
from tests.e2e.consumer.project import contents, copy_project, lay_out, lay_out_trees
from tests.e2e.testing.builds import Build, Workspace, built

DIST = "//wheels:dist"
MODULE = "rules_rocm_python"
WHEELS = {
    "acme_sdk-3.2.0.dev0-py3-none-any.whl",
    "acme_sdk_core-3.2.0.dev0-py3-none-linux_x86_64.whl",
    "acme_sdk_devel-3.2.0.dev0-py3-none-linux_x86_64.whl",
    "acme_sdk_tools-3.2.0.dev0-py3-none-linux_x86_64.whl",
}
CORE, TOOLS = "_acme_sdk_core", "_acme_sdk_tools"
#: DT_RPATH of every ELF file of the wheels; the launcher is static.
RPATHS = {
    f"{CORE}/runtime/lib64/libacme_base.so": ["$ORIGIN"],
    f"{CORE}/runtime/lib64/libacme_base.so.2": ["$ORIGIN"],
    f"{TOOLS}/math/bin/acme-calc": ["$ORIGIN/../lib64", f"$ORIGIN/../../../{CORE}/runtime/lib64"],
    f"{TOOLS}/math/bin/acme-sum": [],
    f"{TOOLS}/math/lib64/libacme_math.so": ["$ORIGIN"],
    f"{TOOLS}/math/lib64/libacme_math.so.1": ["$ORIGIN", f"$ORIGIN/../../../{CORE}/runtime/lib64"],
}
#: Names that have no place in another SDK, and the name that the rules sign with: in WHEEL, in bills of materials and
#: in the section .comment of forwarders.
FOREIGN = re.compile(rb"rocm|therock|hip|\bamd|gfx|mini_sdk", re.IGNORECASE)
SIGNATURE = MODULE.encode()
#: A C toolchain of the project's own: what Bazel finds on the machine, before all others.
OWN_TOOLCHAIN = """
cc = use_extension("@rules_cc//cc:extensions.bzl", "cc_configure_extension")
use_repo(cc, "local_config_cc_toolchains")
register_toolchains("@local_config_cc_toolchains//:all")
"""
#: What our own .bazelrc asks for beyond Bazel 7's defaults: Bazel 8 and 9 insist on half of it.
STRICTER = re.compile(r"^common (--incompatible_\S+)$", re.MULTILINE)


@dataclass(frozen=True)
class Project:
    """The project, whose packages are built."""

    workspace: Workspace
    #: The directory that has it, the rules, and Bazel's output base.
    holder: Path
    dist: Path

    def build(self, *targets: str, command: str = "build", options: tuple[str, ...] = ()) -> Build:
        """Build or test."""
        return self.workspace.build(*targets, command=command, options=options)

    def distributions(self) -> dict[str, bytes]:
        """Read the distributions that were built last."""
        return {path.name: path.read_bytes() for path in sorted(self.dist.glob("*.whl"))}

    def metadata(self, name: str) -> dict[str, list[str]]:
        """Read the core metadata of a distribution, as the index has it beside the wheel."""
        (path,) = self.dist.glob(f"{name}-*.whl.metadata")
        message = message_from_string(path.read_text(encoding="utf-8"))
        return {key: message.get_all(key, []) for key in message}

    def query(self, command: str, *arguments: str) -> str:
        """Ask Bazel; returns what it prints to both streams."""
        result = self.workspace.run(command, "--ui_event_filters=-info", "--noshow_progress", *arguments)
        assert result.returncode == 0, result.stdout
        return result.stdout


@pytest.fixture(scope="module")
def project() -> Iterator[Project]:
    """Copy both projects apart and build the packages. All tests share the project and its server."""
    holder = Path(tempfile.mkdtemp(prefix="rocm-consumer-"))
    directory = copy_project(holder)
    workspace = Workspace(directory, startup=(f"--output_base={holder / 'output_base'}",))
    project = Project(workspace, holder, directory / "bazel-bin/wheels/dist")
    try:
        built(project.build(DIST))
        yield project
    finally:
        workspace.run("shutdown")
        shutil.rmtree(holder, ignore_errors=True)


@pytest.fixture
def built_again(project: Project) -> Iterator[None]:
    """Build the packages as they were, for the tests that follow."""
    yield
    built(project.build(DIST))


def test_wheels(project: Project) -> None:
    """Names, the tree's ELF files with their search paths, and what the metadata says."""
    assert set(project.distributions()) == WHEELS
    found = {}
    for wheel in sorted(project.dist.glob("*.whl")):
        with ZipFile(wheel) as archive:
            for name in archive.namelist():
                if (data := archive.read(name))[:4] == b"\x7fELF":
                    found[name] = (read_elf(io.BytesIO(data), name).rpath or "").split(":")
    assert found == {name: rpath or [""] for name, rpath in RPATHS.items()}

    assert project.metadata("acme_sdk")["Requires-Dist"] == [
        "acme-sdk-tools==3.2.0.dev0",
        'acme-sdk-devel==3.2.0.dev0; extra == "devel"',
    ]
    tools = project.metadata("acme_sdk_tools")
    assert tools["Name"] == ["acme-sdk-tools"]
    assert tools["Requires-Dist"] == ["acme-sdk-core==3.2.0.dev0"]
    assert tools["License-Expression"] == ["ISC"]
    core = project.metadata("acme_sdk_core")
    assert core["License-File"] == ["LICENSE", "share/licenses/acme/LICENSE"]


def test_console_scripts(project: Project) -> None:
    """Of the scripts that are listed, those whose programs are packaged are declared."""
    (wheel,) = project.dist.glob("acme_sdk_tools-*.whl")
    with ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/entry_points.txt"))
        assert archive.read(name).decode() == (
            "[console_scripts]\nacme-calc = acme_sdk_tools._cli:acme_calc\nacme-sum = acme_sdk_tools._cli:acme_sum\n"
        )


def test_nothing_of_rocm(project: Project) -> None:
    """No name of ROCm is in any byte of the result, except in the rules' own signature."""
    signed = set()
    for path in sorted(path for path in project.dist.rglob("*") if path.is_file()):
        whole = path.read_bytes()
        for name, data in contents(whole) if path.suffix == ".whl" else [(path.name, whole)]:
            rest = data.replace(SIGNATURE, b"")
            assert not FOREIGN.search(name.encode() + b"\0" + rest), (path.name, name, FOREIGN.findall(rest))
            if rest != data:
                signed.add(name.rpartition("/")[2])
    assert signed == {
        "WHEEL",
        "libacme_base.so",
        "libacme_math.so",
        *(f"acme-sdk-{package}.cdx.json" for package in ("core", "devel", "tools")),
    }


def test_no_other_part_of_the_rules_is_needed(project: Project) -> None:
    """Neither what packages ROCm nor its examples: the repositories that stand for their input are not made.

    The module registers a toolchain for HIP, so Bazel reads its declaration, which needs no SDK.
    """
    folders = set(re.findall(rf"@{MODULE}//([^/:]+)", project.query("cquery", f"deps({DIST})")))
    assert folders == {"lib", "rules", "tools"}, folders
    made = {path.name for path in (project.holder / "output_base/external").iterdir() if path.is_dir()}
    sources = {name for name in made if re.search(r"[~+]rocm[~+]", name)}
    assert sources, made
    assert all(name.endswith(("acme_artifacts", "rocm_toolchains")) for name in sources), sources


def test_versions_know_the_commit(project: Project) -> None:
    """Without a wrapper: nightly versions have the date of the commit, in UTC, and the next commit is noticed."""
    version = project.workspace.directory / "bazel-bin/version.txt"
    nightly = ("--//:version_kind=nightly",)
    outside = project.build("//:version", options=nightly)
    assert "//:version: version kind `nightly` with serial" in outside.output, outside.output
    assert "the commit is not known" in outside.output, outside.output
    git = ["git", "-C", str(project.workspace.directory), "-c", "user.name=Acme", "-c", "user.email=acme@example.com"]
    subprocess.run([*git, "init", "--quiet"], check=True)
    for date, expected in (
        ("2025-10-21T23:30:00-0200", "3.2.0a20251022"),
        ("2025-11-01T12:00:00+0000", "3.2.0a20251101"),
    ):
        environment = os.environ | {"GIT_COMMITTER_DATE": date}
        subprocess.run([*git, "commit", "--quiet", "--allow-empty", "--message=."], env=environment, check=True)
        built(project.build("//:version", options=nightly))
        assert version.read_text() == f"{expected}\n"
    commit = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout
    built(project.build("//:version", options=("--//:version_serial=stamp",)))
    assert version.read_text() == f"3.2.0.dev0+20251101.g{commit}"
    shutil.rmtree(project.workspace.directory / ".git")


def test_tests_of_the_project(project: Project) -> None:
    """`sdk_wheel_test`, `sdk_wheel_set_test` and `sdk_install_test` serve it, too."""
    build = built(project.build("//...", command="test"))
    for name in ("core_wheel_test", "tools_wheel_test", "dist_test", "install_test"):
        assert re.search(rf"//wheels:{name} .*PASSED", build.output), build.output


def test_stricter_flags(project: Project) -> None:
    """The flags of our own .bazelrc change no byte; nor do none of them."""
    before = project.distributions()
    stricter = tuple(STRICTER.findall((project.holder / "rules/.bazelrc").read_text()))
    assert len(stricter) > 5, stricter
    built(project.build(DIST, options=("--noenable_workspace", *stricter)))
    assert project.distributions() == before
    bare = Workspace(project.workspace.directory, startup=(*project.workspace.startup, "--noworkspace_rc"))
    built(bare.build(DIST))
    assert project.distributions() == before
    built(project.build(DIST))


@pytest.mark.usefixtures("built_again")
def test_artifacts_of_a_directory(project: Project) -> None:
    """What another build left in a directory gives the same wheels as the targets that it came from."""
    before = project.distributions()
    built(project.build("//sdk/..."))
    directory = lay_out(project.holder / "artifacts", project.workspace.directory)
    built(project.build(DIST, options=(f"--repo_env=ROCM_ARTIFACTS_DIR={directory}",)))
    after = project.distributions()
    assert after == before


def test_trees(project: Project) -> None:
    """Files of a prebuilt SDK, and a directory that a rule writes, keep their paths; their content decides modes."""
    lay_out_trees(project.workspace.directory)
    built(project.build("//trees:wheel"))
    (wheel,) = (project.workspace.directory / "bazel-bin/trees").glob("*.whl")
    with ZipFile(wheel) as archive:
        found = {
            info.filename: oct(info.external_attr >> 16 & 0o7777)
            for info in archive.infolist()
            if not info.filename.partition("/")[0].endswith(".dist-info")
        }
    assert found == {
        "_acme_trees/.acme-trees": "0o644",
        "_acme_trees/opt/bin/acme-calc": "0o755",
        "_acme_trees/opt/bin/script": "0o755",
        "_acme_trees/opt/share/a = b.txt": "0o644",
        "_acme_trees/opt/share/prebuilt.txt": "0o644",
    }


@pytest.mark.usefixtures("built_again")
def test_a_directory_of_its_own(project: Project) -> None:
    """MODULE.bazel names a directory of artifacts below the workspace; a variable of the project names another."""
    units = "_acme_sdk_core/share/acme/units.txt"
    added = project.workspace.directory / "prebuilt/units_run_generic/stage/share/acme/added.txt"
    (core,) = project.dist.glob("acme_sdk_core-*.whl")
    assert ZipFile(core).read(units).startswith(b"m meter")
    added.write_text("new")
    built(project.build(DIST))
    assert ZipFile(core).read("_acme_sdk_core/share/acme/added.txt") == b"new"
    added.unlink()
    elsewhere = lay_out(project.holder / "elsewhere", project.workspace.directory)
    listed = project.query("query", "@acme_prebuilt//...", f"--repo_env=ACME_PREBUILT={elsewhere}")
    assert "@acme_prebuilt//:tools_run_generic" in listed
    assert "units" not in listed


def test_packages_of_debian(project: Project) -> None:
    """Each package is an artifact, and what it depends on stays with the system if it is part of any."""
    listed = project.query("query", "@acme_debian//...")
    assert "@acme_debian//:libzstd1_lib_generic" in listed
    assert "libc6" not in listed


@pytest.mark.usefixtures("built_again")
def test_what_comes_and_goes_in_a_directory(project: Project) -> None:
    """No wrapper knows this variable. A folder that was removed made every later build fail, until it was expunged."""
    directory = project.holder / "coming"
    shutil.copytree(project.workspace.directory / "prebuilt", directory)
    options = (f"--repo_env=ACME_PREBUILT={directory}",)
    stage = directory / "units_run_generic/stage/share/acme"
    more = directory / "more_run_generic/stage/share/more"
    more.mkdir(parents=True)
    (more / "more.txt").write_text("more")
    (more / "up").symlink_to("..")  # A link that goes in a circle.
    (directory / "more_run_generic/artifact_manifest.txt").write_text("stage\n")
    (stage / "one.txt").symlink_to("units.txt")
    built(project.build(DIST, options=options))
    (core,) = project.dist.glob("acme_sdk_core-*.whl")
    assert ZipFile(core).read(f"{CORE}/share/acme/one.txt").startswith(b"m meter")
    (stage / "two.txt").write_text("two")
    (stage / "one.txt").unlink()
    (stage / "one.txt").symlink_to("two.txt")
    built(project.build(DIST, options=options))
    assert ZipFile(core).read(f"{CORE}/share/acme/one.txt") == b"two"
    (stage / "one.txt").unlink()
    (stage / "one.txt").mkdir()
    (stage / "one.txt/below.txt").write_text("below")
    built(project.build(DIST, options=options))
    assert ZipFile(core).read(f"{CORE}/share/acme/one.txt/below.txt") == b"below"
    shutil.rmtree(stage / "one.txt")
    built(project.build(DIST, options=options))
    assert not [name for name in ZipFile(core).namelist() if "one.txt" in name]
    (more / "up").unlink()
    built(project.build(DIST, options=options))
    shutil.rmtree(directory / "more_run_generic")
    built(project.build(DIST, options=options))


@pytest.mark.usefixtures("built_again")
def test_a_fingerprint_of_another_directory(project: Project) -> None:
    """Whoever set it, of whatever: a directory that it does not name is watched."""
    directory = lay_out(project.holder / "watched", project.workspace.directory)
    other = f"--repo_env=ROCM_ARTIFACTS_FINGERPRINT={'0' * 64} /elsewhere\n{'1' * 64} {directory}/below"
    options = (other, f"--repo_env=ROCM_ARTIFACTS_DIR={directory}")
    built(project.build("//wheels:core", options=options))
    (directory / "runtime_lib_generic/stage/runtime/lib64/added.txt").write_text("new")
    built(project.build("//wheels:core", options=options))
    (listing,) = (project.holder / "output_base/external").glob("*acme_artifacts_directory/BUILD.bazel")
    assert "/runtime/lib64/added.txt" in listing.read_text()


@pytest.mark.usefixtures("built_again")
def test_a_changed_program_of_the_rules(project: Project) -> None:
    """A newer version of the rules catalogs a directory anew, also where asking for a path does not watch it."""
    directory = lay_out(project.holder / "catalogued", project.workspace.directory)
    options = ("--incompatible_no_implicit_watch_label", f"--repo_env=ROCM_ARTIFACTS_DIR={directory}")
    times = []
    for _ in range(2):
        built(project.build("//wheels:core", options=options))
        (listing,) = (project.holder / "output_base/external").glob("*acme_artifacts_directory/artifacts.bzl")
        times.append(listing.stat().st_mtime_ns)
        with (project.holder / "rules/tools/fetch/catalog/scan.py").open("a") as program:
            program.write("# Newer.\n")
    assert times[0] < times[1], times


def test_pip_installs_it(project: Project) -> None:
    """In an environment of this machine's Python, with no index except the new one."""
    environment = project.holder / "environment"
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    page = project.dist / "find-links.html"
    pip = [str(environment / "bin/pip"), "--isolated", "--disable-pip-version-check", "install", "--quiet"]
    subprocess.run([*pip, "--no-index", f"--find-links={page}", "--pre", "acme-sdk[devel]"], check=True)
    script = project.workspace.directory / "tools/use.py"
    path = f"{environment / 'bin'}:/usr/bin:/bin"
    subprocess.run([environment / "bin/python", "-B", script], env={"PATH": path}, check=True)


def test_who_compiles(project: Project) -> None:
    """Zig compiles what the rules have in C, whatever toolchains the project has, and nothing of the project.

    The last test: it gives the project another toolchain for good.
    """
    for own in (False, True):
        if own:
            with (project.workspace.directory / "MODULE.bazel").open("a") as module:
                module.write(OWN_TOOLCHAIN)
        built(project.build(DIST, "//sdk:plain"))
        actions = project.query("aquery", f'mnemonic("CppCompile|CppLink", deps({DIST} + //sdk:plain))')
        compiled = re.findall(r"Target: (\S+)\n(?:  .*\n)*?  Command Line: \(exec (\S+)", actions)
        by_zig = {target for target, command in compiled if command.endswith("/ziglang/zig")}
        assert by_zig == {target for target, _ in compiled if not target.startswith("//")}, compiled
        assert any(target.endswith("launcher:zig/launcher") for target in by_zig), compiled
        assert "//sdk:plain" in {target for target, _ in compiled}, compiled
