"""Tests of which Bazel bazelw takes, and of what it says where it can have none."""

import pytest

from develop.bazel_root.machine import BAZELW, Machine

REMEDY = "found no Bazel 7.4 or newer: install one, or bazelisk, or name one in $BAZEL"


def test_bazel_variable_comes_first(machine: Machine) -> None:
    machine.fake_bazel("bazel", "bazel 8.0.0")
    machine.fake_bazel("mine", "bazel 1.0.0")
    result = machine.run("build", "//a b", "", "--", "*", BAZEL=str(machine.path / "mine"))
    assert result.stdout == "mine<build><//a b><><--><*>\n"
    assert result.stderr == ""


@pytest.mark.parametrize("version", ["7.4.0", "7.10.1", "8.0.0-pre.20240911.1", "9.0.0rc1", "10.2.0"])
def test_new_enough_bazel_is_taken(machine: Machine, version: str) -> None:
    machine.fake_bazel("bazel", f"bazel {version}")
    result = machine.run("--output_base=/x", "test", "//...")
    assert result.stdout == "bazel<--output_base=/x><test><//...>\n"
    assert result.stderr == ""
    assert machine.roots() == []


@pytest.mark.parametrize("line", ["bazel 7.3.2", "bazel 6.5.0", "bazel no_version", "bazel", "", "version 8.0.0"])
def test_old_or_unknown_bazel_is_not_taken(machine: Machine, line: str) -> None:
    machine.fake_bazel("bazel", line)
    result = machine.run("build", "//x")
    assert result.stdout.startswith("<--bind>")
    assert machine.journal("bazel") == ["--version"]


def test_debians_own_bazel_is_not_taken(machine: Machine) -> None:
    machine.fake_bazel("bazel", "bazel 7.7.1")
    key = machine.folder / "share" / "bazel" / "install_base_key"
    key.parent.mkdir(parents=True)
    key.touch()
    assert machine.run("build").stdout.startswith("<--bind>")
    key.unlink()
    assert machine.run("build").stdout == "bazel<build>\n"


def test_bazelisk_is_preferred_if_it_works(machine: Machine) -> None:
    machine.fake_bazel("bazel", "bazel 8.0.0")
    machine.fake_bazel("bazelisk", "bazel 7.7.1")
    assert machine.run("info").stdout == "bazelisk<info>\n"
    machine.fake("bazelisk", "echo could not download >&2; exit 1")
    result = machine.run("info")
    assert (result.stdout, result.stderr) == ("bazel<info>\n", "")


def test_without_apt_it_says_what_to_install(machine: Machine) -> None:
    (machine.path / "apt-get").unlink()
    result = machine.run("build")
    assert result.returncode == 1
    assert result.stderr == f"bazelw: {REMEDY}\n"
    assert list(machine.home.iterdir()) == []


def test_without_root_rights_it_uses_the_root_that_is_there(machine: Machine) -> None:
    machine.run("build")
    result = machine.run("build", FAKE_UID="1000")
    assert result.stdout.startswith("<--bind>")
    assert result.stderr == ""


def test_a_bazel_that_calls_bazelw_is_not_asked_without_end(machine: Machine) -> None:
    machine.fake("bazel", f'exec {BAZELW} "$@"')
    result = machine.run("build", "//:all")
    assert "</etc/bazel/bazel><build><//:all>" in result.stdout
    assert machine.journal("bazel") == ["--version"]
