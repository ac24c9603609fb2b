"""Tests of the Debian root: how it is made, what is in it, and how it is entered."""

import shutil
import subprocess
from pathlib import Path

import pytest

from develop.bazel_root.machine import BAZELW, FAKES, MIRROR, Machine


def test_root_is_made_once_and_then_used_in_silence(machine: Machine) -> None:
    first = machine.run("build", "//a b")
    (root,) = machine.roots()
    assert first.stderr == (
        f"bazelw: making a Debian forky root with Bazel in {root}: 1.4 GB, one to three minutes\n"
        "bazelw:   downloading packages\n"
        "bazelw:   unpacking packages\n"
        "bazelw: the Debian root is made\n"
    )
    second = machine.run("build", "//a b")
    assert second.stderr == ""
    assert first.stdout == second.stdout
    assert len(machine.journal("dpkg-deb")) == 3  # base-files first, then each
    (source,) = machine.journal("sources.list")
    assert source.endswith(f"] {MIRROR} forky main")
    assert sorted(entry.name for entry in machine.cache.iterdir()) == [root.name, "lock", "make_root.log"]


def test_root_holds_what_bazel_needs_and_no_addresses(machine: Machine) -> None:
    machine.run("build")
    (root,) = machine.roots()
    files = root / "usr/share/bazel/rules_rocm_python"
    assert (files / "build-data.properties").read_text() == "build.label=7.7.1\n"
    assert (files / "cacerts.p12").read_text() == "certificates for Java\n"
    for place in ("etc/bazel", "usr/local/share/ca-certificates", "usr/share/keyrings"):  # Also for other users.
        assert (root / place).is_dir()
    assert str((root / "usr/bin/javac").readlink()) == "/usr/lib/jvm/java-9-x/bin/javac"
    programs = [call.split()[0] for call in machine.journal("inside")]
    assert programs == ["ldconfig", "python3", "java", "python3", "localedef"]
    assert not (root / "etc/apt/sources.list").exists()


def test_apts_way_to_the_network_is_carried_over(machine: Machine) -> None:
    machine.run("build")
    settings = machine.journal("apt.conf")
    assert 'Acquire::http::Proxy "http://proxy.invalid:3128";' in settings
    assert 'Acquire::Languages "de";' not in settings


def test_without_a_debian_mirror_one_is_named(machine: Machine) -> None:
    machine.fake("apt-get", FAKES["apt-get"].replace(f"echo '{MIRROR}'; echo 'http://mirror.invalid/second/'", ""))
    result = machine.run("build")
    assert "bazelw: apt has no mirror of Debian (on Ubuntu?): name one, DEBIAN_MIRROR=URL, or install" in result.stderr
    assert machine.roots() == []
    assert machine.run("build", DEBIAN_MIRROR="http://other.invalid/debian").stdout.startswith("<--bind>")
    (source,) = machine.journal("sources.list")
    assert source.endswith("] http://other.invalid/debian forky main")
    assert any(call.endswith("-q update") for call in machine.journal("apt-get"))


def test_nothing_is_installed_and_any_user_may(machine: Machine) -> None:
    """Of apt, only its own state is used: not the machine's lists, cache, hooks or packages."""
    result = machine.run("build", FAKE_UID="1000")
    assert result.stdout.startswith("<--bind>")
    assert all("--download-only" in call for call in machine.journal("apt-get") if "install" in call)
    places = [line for line in machine.journal("apt.conf") if line.startswith("Dir::")]
    assert len(places) == 11
    assert all(f'"{machine.cache}/apt' in line for line in places)


def test_failure_shows_the_log_and_leaves_nothing_half_made(machine: Machine) -> None:
    result = machine.run("build", FAKE_BROKEN="1")
    assert result.returncode == 1
    assert result.stdout == ""
    assert "E: the mirror is on fire\nbazelw: failed: apt-get -qy --download-only install " in result.stderr
    assert f" (the whole log: {machine.cache}/make_root.log)\n" in result.stderr
    assert machine.roots() == []
    assert machine.run("build").stdout.startswith("<--bind>")


def test_a_broken_package_is_reported(machine: Machine) -> None:
    machine.fake("dpkg-deb", f'case $2 in */bazel_*) echo "dpkg-deb: broken" >&2; exit 2 ;; esac\n{FAKES["dpkg-deb"]}')
    result = machine.run("build")
    assert "dpkg-deb: broken\n" in result.stderr
    assert f"bazelw: failed: dpkg-deb (the whole log: {machine.cache}/make_root.log)\n" in result.stderr
    assert machine.roots() == []


def test_container_without_namespaces_is_told_before_anything_is_fetched(machine: Machine) -> None:
    machine.fake("unshare", "echo 'unshare: Operation not permitted' >&2; exit 1")
    result = machine.run("build")
    assert result.returncode == 1
    assert "unshare: Operation not permitted\n" in result.stderr
    assert "make no namespaces. Run it as root, or install Bazel 7.4 or newer (the whole log" in result.stderr
    assert machine.journal("apt-get") == []


def test_leftovers_of_dead_attempts_are_removed(machine: Machine) -> None:
    dead = machine.cache / "debian-0123456789ab.partial" / "usr"
    dead.mkdir(parents=True)
    machine.run("build")
    assert not dead.parent.exists()
    assert len(machine.roots()) == 1


@pytest.mark.parametrize("lost", ["usr/bin/python3", "usr/bin", "etc", ".whole"])
def test_damaged_root_is_made_again(machine: Machine, lost: str) -> None:
    machine.run("build")
    (root,) = machine.roots()
    victim = root / lost
    if victim.is_dir():
        shutil.rmtree(victim)
    else:
        victim.unlink()
    result = machine.run("build")
    assert f"bazelw: {root} is damaged: making it again\n" in result.stderr
    assert result.stdout.startswith("<--bind>")
    assert (root / "usr/bin/python3").exists()
    assert machine.roots() == [root]
    assert machine.run("build").stderr == ""


def test_changed_recipe_makes_another_root(machine: Machine, copy: Path) -> None:
    machine.run("build", bazelw=copy)
    (old,) = machine.roots()
    recipe = copy.parent / "develop/bazel_root/make_root.sh"
    recipe.write_text(recipe.read_text() + "# changed\n")
    result = machine.run("build", bazelw=copy)
    assert f"bazelw: made for another version of this project, and yours to remove: {old}\n" in result.stderr
    assert len(machine.roots()) == 2
    assert machine.run("build", bazelw=copy).stderr == ""


def test_several_at_once_make_one_root(machine: Machine) -> None:
    calls = [
        subprocess.Popen(
            [BAZELW, "build"], env=machine.environment(), cwd=machine.folder, stdout=subprocess.PIPE, text=True
        )
        for _ in range(3)
    ]
    outputs = [call.communicate()[0] for call in calls]
    assert [call.returncode for call in calls] == [0, 0, 0]
    assert all(output.startswith("<--bind>") for output in outputs)
    assert len(machine.journal("dpkg-deb")) == 3


def test_root_is_entered_where_the_caller_is(machine: Machine, copy: Path) -> None:
    folder = copy.parent / "sub"
    folder.mkdir()
    result = machine.run("run", "//x y", "--", "", bazelw=copy, cwd=folder)
    command, *environment = result.stdout.splitlines()
    (root,) = machine.roots()
    assert command.startswith(f"<--bind><{root}></><--dev-bind></dev></dev><--dev-bind></proc></proc>")
    assert f"<--ro-bind><{copy.parent}/develop/bazel_root></etc/bazel>" in command
    assert "<--bind></tmp></tmp>" in command
    assert "<--bind></usr></usr>" not in command
    for place in ("/etc/apt", "/usr/share/keyrings"):
        assert (f"<--ro-bind><{place}><{place}>" in command) == Path(place).exists()
    assert f"<--remount-ro></><--chdir><{folder}>" in command
    assert command.endswith("</etc/bazel/bazel><run><//x y><--><>")
    assert f"HOME={machine.home}" in environment


def test_environment_is_the_callers_but_for_what_names_the_machines_programs(machine: Machine) -> None:
    result = machine.run(
        "build", PIP_INDEX_URL="http://pip.invalid", JAVA_HOME="/opt/java", LD_LIBRARY_PATH="/opt/lib", CC="gcc-9"
    )
    command, *environment = result.stdout.splitlines()
    assert "PIP_INDEX_URL=http://pip.invalid" in environment
    assert not [line for line in environment if line.startswith(("JAVA_HOME=", "LD_LIBRARY_PATH=", "CC="))]
    assert "<--setenv><PATH></usr/sbin:/usr/bin:/sbin:/bin>" in command


def test_new_root_means_a_new_server(machine: Machine) -> None:
    def mounts(output: str) -> str:
        return output.split("<BAZELW_MOUNTS><")[1].split(">")[0]

    first = mounts(machine.run("build").stdout)
    folder = machine.folder / "sub"
    folder.mkdir()
    assert mounts(machine.run("build", cwd=folder).stdout) == first
    (root,) = machine.roots()
    stamp = root / ".whole"
    stamp.write_text(stamp.read_text().replace(" ", " 1"))
    assert mounts(machine.run("build").stdout) != first


def test_what_java_learns_is_kept_beside_the_root(machine: Machine) -> None:
    """The root itself is read-only for Bazel."""
    output = machine.run("build").stdout
    (root,) = machine.roots()
    digest = root.name.removeprefix("debian-")
    assert f"<BAZELW_AOT_CACHE><{root.parent}/java-{digest}.aot>" in output
