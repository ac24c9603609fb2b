"""Tests of the fingerprint of artifacts: which directories it is of, and what changes it."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from develop.bazel_root.machine import BAZELW, Machine


def fingerprint(machine: Machine, *arguments: str, cwd: Path | None = None, **variables: str) -> str:
    """Return ROCM_ARTIFACTS_FINGERPRINT as Bazel sees it."""
    machine.fake("printer", 'printf "%s" "${ROCM_ARTIFACTS_FINGERPRINT-none}"')
    environment = machine.environment(BAZEL=str(machine.path / "printer"), **variables)
    return subprocess.run(
        [BAZELW, *arguments], env=environment, cwd=cwd or machine.folder, capture_output=True, text=True, check=True
    ).stdout


def directories(said: str) -> list[str]:
    """Return the directories that a fingerprint is of, in its order."""
    return [line.split(" ", 1)[1] for line in said.splitlines()]


def test_fingerprint_changes_with_names_modes_and_links_of_the_artifacts(machine: Machine, tmp_path: Path) -> None:
    artifacts = tmp_path / "artifacts"
    artifacts.mkdir()
    file, link = artifacts / "file", artifacts / "link"
    file.write_text("content")
    link.symlink_to("nowhere")
    option = f"--repo_env=ROCM_ARTIFACTS_DIR={artifacts}"
    seen = [fingerprint(machine, "build", option)]
    file.write_text("other content, which Bazel itself watches")
    assert fingerprint(machine, "build", option) == seen[0]
    file.chmod(0o755)
    seen.append(fingerprint(machine, "build", option))
    link.unlink()
    link.symlink_to("nowhere else")
    seen.append(fingerprint(machine, "build", option))
    (artifacts / "empty").mkdir()
    seen.append(fingerprint(machine, "build", option))
    assert len(set(seen)) == 4


def test_fingerprint_changes_with_sizes_and_times_of_archives(machine: Machine, tmp_path: Path) -> None:
    """Bazel does not read them to know: they are big. They may be links."""
    artifacts = tmp_path / "artifacts"
    artifacts.mkdir()
    archive = tmp_path / "elsewhere"
    option = f"--repo_env=ROCM_ARTIFACTS_DIR={artifacts}"
    seen = set()
    for suffix in ("gz", "xz", "zst"):
        archive.write_text("content")
        os.utime(archive, ns=(0, 0))
        link = artifacts / f"a_lib_generic.tar.{suffix}"
        link.symlink_to(archive)
        seen.add(fingerprint(machine, "build", option))
        os.utime(archive, ns=(0, 1000))
        seen.add(fingerprint(machine, "build", option))
        archive.write_text("longer content")
        os.utime(archive, ns=(0, 1000))
        seen.add(fingerprint(machine, "build", option))
        assert fingerprint(machine, "build", option) in seen
        archive.write_text("other content!")
        os.utime(archive, ns=(0, 1000))
        seen.add(fingerprint(machine, "build", option))
        link.unlink()
    assert len(seen) == 12


def test_fingerprint_has_a_line_for_each_directory_that_could_be_meant(machine: Machine, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name / name).mkdir(parents=True)
    one, two = (f"--repo_env=ROCM_ARTIFACTS_DIR={tmp_path}/{name}" for name in ("one", "two"))
    assert fingerprint(machine) == "none"
    (line,) = fingerprint(machine, "build", one).splitlines()
    assert re.fullmatch(rf"[0-9a-f]{{64}} {tmp_path}/one", line)
    assert fingerprint(machine, "build", "--repo_env", one.removeprefix("--repo_env=")) == line
    assert fingerprint(machine, ROCM_ARTIFACTS_DIR=str(tmp_path / "one")) == line
    assert fingerprint(machine, ROCM_WINDOWS_ARTIFACTS_DIR=str(tmp_path / "one")) == line
    both = fingerprint(machine, "build", two, one, two)
    assert both.splitlines() == [line, fingerprint(machine, "build", two)]
    assert fingerprint(machine, "build", two, ROCM_ARTIFACTS_DIR=str(tmp_path / "one")) == both
    assert directories(fingerprint(machine, "build", f"{one}/not there")) == [f"{tmp_path}/one/not there"]
    assert fingerprint(machine, "build", "--repo_env=ROCM_ARTIFACTS_DIR=relative") == "none"


#: An rc file, and the directories that Bazel may take from it.
RC_LINES = [
    ("common --repo_env=ROCM_ARTIFACTS_DIR=/a", ["/a"]),
    ("common:mine --repo_env=ROCM_ARTIFACTS_DIR=/a\nbuild --repo_env=ROCM_ARTIFACTS_DIR=/b", ["/a", "/b"]),
    ("common --x --repo_env ROCM_ARTIFACTS_DIR=/a --y", ["/a"]),
    ('common --repo_env=ROCM_ARTIFACTS_DIR="/with a space"/x', []),
    ("common --repo_env=ROCM_ARTIFACTS_DIR=", []),
    ("try-import %workspace%/$(touch planted)\ncommon --repo_env=ROCM_ARTIFACTS_DIR=/$HOME`id`", ["/$HOME`id`"]),
    ("common --repo_env=ROCM_ARTIFACTS_DIR=/no/line/break", ["/no/line/break"]),
    ("common --repo_env=ROCM_WINDOWS_ARTIFACTS_DIR=/w --repo_env=ROCM_ARTIFACTS_DIR=/l", ["/l", "/w"]),
]


@pytest.mark.parametrize(("text", "expected"), RC_LINES)
def test_paths_without_quotes_are_found_in_rc_files(machine: Machine, text: str, expected: list[str]) -> None:
    (machine.home / ".bazelrc").write_text(text)
    said = fingerprint(machine)
    assert directories("" if said == "none" else said) == expected
    assert not list(machine.folder.rglob("planted"))


def test_every_rc_file_is_read_that_bazel_reads(machine: Machine) -> None:
    project = machine.folder / "project"
    (project / "sub").mkdir(parents=True)
    (project / "MODULE.bazel").touch()
    line = "common:some --repo_env=ROCM_ARTIFACTS_DIR={}\n"
    (machine.home / ".bazelrc").write_text(line.format("/home"))
    (project / ".bazelrc").write_text(
        line.format("/workspace")
        + "import %workspace%/.bazelrc\ntry-import %workspace%/user.bazelrc\nimport /not/there\n"
    )
    (project / "user.bazelrc").write_text(line.format("/user") + f'import "{machine.folder}/with space.rc"\n')
    (machine.folder / "with space.rc").write_text(line.format("/imported"))
    for name in ("named", "second"):
        (project / f"sub/{name}.rc").write_text(line.format(f"/{name}"))
    options = ["--bazelrc=named.rc", "--bazelrc", "second.rc", "build"]
    assert directories(fingerprint(machine, *options, cwd=project / "sub")) == sorted(
        ["/home", "/workspace", "/user", "/imported", "/named", "/second"]
    )
    assert directories(fingerprint(machine)) == ["/home"], "outside of the project"
