"""The release archive: always the same bytes, and all that other modules need of the rules.

    .ci/run release

It is made of the commit that is checked out. The test module of the registry's presubmit is built inside the archive,
and again by itself with the archive from a registry, as is the example SDK by a module that has nothing of its own. Its
C toolchain is what Bazel finds on the machine.
"""

import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from develop.release.release import integrity
from tests.e2e.testing.builds import WORKSPACE, Workspace, built

MODULE = "rules_rocm_python"
OWNER = "somebody"
#: The test module that .bcr/presubmit.yml names.
TEST_MODULE = "tests/e2e/consumer/acme"
#: Where Debian's Bazel lies, which bazelw starts with registries of its own; other Bazels ask the central one.
DEBIAN_BAZEL = "/usr/share/bazel"
OVERRIDE = re.compile(r"# The rules as they lie around.*?\n\)\n\n", re.DOTALL)


def release(output: Path, repository: Path, *arguments: str, umask: int = -1) -> Path:
    """Make the release archive of a clone, and return it."""
    program = (sys.executable, "-B", "-m", "develop.release.release", f"--repository={repository}")
    subprocess.run([*program, f"--output={output}", *arguments], cwd=WORKSPACE, check=True, umask=umask)
    (archive,) = output.glob("*.tar.gz")
    return archive


@dataclass(frozen=True)
class Released:
    """The release, and where it lies unpacked."""

    archive: Path
    unpacked: Path
    registry: Path

    def add_bazelw(self, directory: Path) -> None:
        """Let a project start Bazel as the rules do."""
        (directory / "bazelw").write_text(f'#!/bin/sh\nexec {self.unpacked}/bazelw "$@"\n')
        (directory / "bazelw").chmod(0o755)

    def module(self, directory: Path, text: str) -> Workspace:
        """Let a module in a directory take the rules from the release; `text` is all else that MODULE.bazel has.

        Debian's Bazel reads the registry. Another one would ask it instead of the central one, so it gets an override.
        """
        directory.mkdir(exist_ok=True)
        self.add_bazelw(directory)
        (directory / "MODULE.bazel").write_text(text)
        (directory / ".bazelrc").touch()
        workspace = Workspace(directory, startup=(f"--output_base={directory}.output",))
        if workspace.info("install_base") == DEBIAN_BAZEL:
            own = f"common --registry=file://{self.registry}\n"
            (directory / ".bazelrc").write_text((directory / ".bazelrc").read_text() + own)
        else:
            given = f'integrity = "{integrity(self.archive.read_bytes())}", strip_prefix = "{self.unpacked.name}"'
            override = f'archive_override(module_name = "{MODULE}", urls = ["file://{self.archive}"], {given})\n'
            (directory / "MODULE.bazel").write_text(text + override)
        return workspace


@pytest.fixture(scope="module")
def released() -> Iterator[Released]:
    """Make the release, and a registry with it."""
    holder = Path(tempfile.mkdtemp(prefix="rocm-release-"))
    output, registry = holder / "output", holder / "registry"
    url = f"file://{output}/{MODULE}.tar.gz"
    archive = release(output, WORKSPACE, f"--registry={registry}", f"--owner={OWNER}", f"--url={url}")
    archive = archive.rename(output / f"{MODULE}.tar.gz")
    with tarfile.open(archive) as file:
        file.extractall(holder, filter="data")
    (unpacked,) = holder.glob(f"{MODULE}-*")
    try:
        yield Released(archive, unpacked, registry)
    finally:
        for path in holder.glob("*.output"):
            subprocess.run([unpacked / "bazelw", f"--output_base={path}", "shutdown"], cwd=unpacked, check=False)
        subprocess.run(["chmod", "-R", "u+w", holder], check=False)
        shutil.rmtree(holder, ignore_errors=True)


def members(archive: Path) -> list[tarfile.TarInfo]:
    """List what an archive has."""
    with tarfile.open(archive) as file:
        return file.getmembers()


def distributions(workspace: Workspace, folder: str) -> dict[str, bytes]:
    """Read the wheels that a project built, by their names."""
    return {path.name: path.read_bytes() for path in (workspace.directory / "bazel-bin" / folder).glob("*.whl")}


def test_the_same_bytes(released: Released, tmp_path: Path) -> None:
    """From another clone, where other files lie around and the user's configuration says otherwise."""
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", WORKSPACE, clone], check=True)
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=WORKSPACE, capture_output=True, text=True, check=True)
    subprocess.run(["git", "checkout", "--quiet", commit.stdout.strip()], cwd=clone, check=True)
    (clone / "README.md").write_text("changed, and not committed")
    attributes = tmp_path / "attributes"
    attributes.write_text("LICENSE export-ignore\n")
    for name, value in (("tar.umask", "0"), ("core.autocrlf", "true"), ("core.attributesFile", str(attributes))):
        subprocess.run(["git", "config", name, value], cwd=clone, check=True)
    again = release(tmp_path / "output", clone, umask=0o077)
    assert again.read_bytes() == released.archive.read_bytes()


def test_members(released: Released) -> None:
    """Sorted, nobody's, all with one date; of the tests only the test module."""
    found = members(released.archive)
    names = [member.name for member in found]
    assert len({member.mtime for member in found}) == 1
    assert {(member.uid, member.gid, member.uname, member.gname) for member in found} == {(0, 0, "root", "root")}
    assert {oct(member.mode) for member in found} == {"0o644", "0o755"}
    assert all(member.isfile() or member.isdir() for member in found)
    prefix = f"{released.unpacked.name}/"
    files = {member.name.removeprefix(prefix) for member in found if member.isfile()}
    assert names[0] == released.unpacked.name
    assert all(name.startswith(prefix) for name in names[1:])
    assert {name for name in files if name.startswith("tests/")} == {
        name for name in files if name.startswith(f"{TEST_MODULE}/")
    }
    assert {name.split("/")[0] for name in files if "/" in name} == {
        *("develop", "docs", "examples", "hip", "lib", "packaging", "rules", "tests", "tools", "wheels")
    }
    assert {"MODULE.bazel", "LICENSE", "bazelw", f"{TEST_MODULE}/MODULE.bazel"} <= files
    assert not files & {".gitattributes", ".bcr/presubmit.yml", "develop/ci/run.py"}


def test_the_test_module(released: Released) -> None:
    """What the registry's presubmit runs, where it runs it; and the same project elsewhere, which asks a registry."""
    directory = released.unpacked / TEST_MODULE
    released.add_bazelw(directory)
    inside = Workspace(directory, startup=(f"--output_base={released.unpacked}.output",))
    built(inside.build("//wheels:dist"))
    build = built(inside.build("//...", command="test"))
    assert re.search(r"//wheels:install_test .*PASSED", build.output), build.output

    elsewhere = released.unpacked.parent / "acme"
    shutil.copytree(directory, elsewhere, ignore=shutil.ignore_patterns("bazel*"))
    text, found = OVERRIDE.subn("", (elsewhere / "MODULE.bazel").read_text())
    assert found == 1, text
    outside = released.module(elsewhere, text)
    built(outside.build("//wheels:dist"))
    assert len(distributions(outside, "wheels/dist")) == 4
    assert distributions(outside, "wheels/dist") == distributions(inside, "wheels/dist")


def test_a_module_with_nothing_of_its_own(released: Released) -> None:
    """It loads and analyzes all of the rules, without what their development needs, and packages the example SDK."""
    version = released.unpacked.name.removeprefix(f"{MODULE}-")
    directory = released.unpacked.parent / "empty"
    empty = released.module(directory, f'bazel_dep(name = "{MODULE}", version = "{version}")\n')
    (directory / "BUILD.bazel").touch()
    queried = empty.run("query", f"@{MODULE}//...", "--output=label_kind")
    assert queried.returncode == 0, queried.stdout
    built(empty.build(f"@{MODULE}//...", options=("--nobuild",)))
    build = built(empty.build(f"@{MODULE}//packaging:all_wheels", f"@{MODULE}//wheels"))
    assert "the root module requires" not in build.output
    fetched = [path.name for path in Path(f"{directory}.output/external").iterdir()]
    assert any(re.search(r"[~+]zig$", name) for name in fetched), fetched
    assert not [name for name in fetched if "buildifier" in name]
    asked = empty.run("aquery", f'mnemonic("Cpp.*", deps(@{MODULE}//packaging:all_wheels))', "--ui_event_filters=-info")
    compilers = set(re.findall(r"Command Line: \(exec (\S+)", asked.stdout))
    assert {path.rpartition("/")[2] for path in compilers} == {"zig"}, compilers
