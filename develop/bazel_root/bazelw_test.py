"""Tests of what bazelw decides, without network and without making a real Debian root.

Each test has a machine of its own: a PATH that holds nothing but harmless tools of this one and fakes of what bazelw
would do something with (bazel, apt-get, mmdebstrap, bwrap, ...). The fakes write what they were told into a journal.
The tests run the bazelw that $BAZELW names, else the one of this repository.
"""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

BAZELW = Path(os.environ.get("BAZELW", Path(__file__).parents[2] / "bazelw")).absolute()
MIRROR = "http://mirror.invalid/debian/"

TOOLS = (
    *("bash", "cat", "cksum", "cut", "date", "dirname", "env", "find", "flock", "grep", "mkdir", "mv"),
    *("readlink", "rm", "sed", "sha256sum", "sort", "tail", "tee", "touch", "wc"),
)

FAKES = {
    "id": 'echo "${FAKE_UID:-0}"',
    "apt-get": f"""
        case "$1" in
          indextargets) echo '{MIRROR}'; echo 'http://mirror.invalid/second/' ;;
          *install) for package in "$@"; do touch "$HOME/installed-$package"; done ;;
        esac""",
    "apt-config": """
        echo 'Acquire::http::Proxy "http://proxy.invalid:3128";'
        echo 'Acquire::Languages "none";'""",
    "unshare": 'shift; exec "$@"',
    "chroot": "cat >/dev/null; echo 'certificates for Java'",
    "mmdebstrap": r"""
        for argument in "$@"; do
          case $argument in
            --aptopt=*) sed 's/^/apt.conf /' "${argument#--aptopt=}" >>"$JOURNAL" ;;
            */debian-*) root=$argument ;;
          esac
        done
        mkdir -p "$root/usr/bin" "$root/usr/share/bazel" "$root/etc/ssl/certs" "$root/etc/apt"
        echo 'I: running apt-get update...' >&2
        echo 'I: downloading packages with apt...' >&2
        [ -z "${FAKE_BROKEN:-}" ] || { echo 'E: the mirror is on fire' >&2; exit 1; }
        echo "deb http://mirror.invalid/debian forky main" >"$root/etc/apt/sources.list"
        touch "$root/usr/bin/bazel" "$root/usr/bin/python3" "$root/etc/ssl/certs/ca-certificates.crt"
        echo -n 7.7.1 >"$root/usr/share/bazel/build-label.txt" """,
    "bwrap": """
        printf '<%s>' "$@"
        echo
        env""",
}


@dataclass(frozen=True)
class Machine:
    """A machine as bazelw sees it: a PATH, a home directory, and the journal of what the fakes were told."""

    folder: Path

    @property
    def path(self) -> Path:
        """The only folder on PATH."""
        return self.folder / "bin"

    @property
    def home(self) -> Path:
        """The home directory, below which the cache is."""
        return self.folder / "home"

    @property
    def cache(self) -> Path:
        """Where the Debian root goes."""
        return self.home / ".cache" / "rules_rocm_python"

    def fake(self, name: str, body: str) -> Path:
        """Put on PATH a command that notes its arguments and then does what the shell text `body` says."""
        command = self.path / name
        command.parent.mkdir(parents=True, exist_ok=True)
        command.write_text(f'#!/bin/bash\necho "{name} $*" >>"$JOURNAL"\n{body}\n')
        command.chmod(0o755)
        return command

    def fake_bazel(self, name: str, version: str) -> None:
        """Put on PATH a Bazel that prints the line `version` when asked for it, else its name and arguments."""
        self.fake(
            name,
            f"""if [ "$*" = --version ]; then echo '{version}'; else printf '{name}'; printf '<%s>' "$@"; echo; fi""",
        )

    def journal(self, name: str) -> list[str]:
        """Return what the fake `name` was called with, one line per call."""
        journal = self.folder / "journal"
        lines = journal.read_text().splitlines() if journal.exists() else []
        return [line.removeprefix(f"{name} ") for line in lines if line.startswith(f"{name} ")]

    def roots(self) -> list[Path]:
        """Return the Debian roots that are there, whole or not."""
        return sorted(self.cache.glob("debian-*"))

    def environment(self, **variables: str) -> dict[str, str]:
        """Return the whole environment of a call."""
        return {
            "PATH": str(self.path),
            "HOME": str(self.home),
            "JOURNAL": str(self.folder / "journal"),
            **variables,
        }

    def run(
        self, *arguments: str, bazelw: Path = BAZELW, cwd: Path | None = None, **variables: str
    ) -> "subprocess.CompletedProcess[str]":
        """Run bazelw with nothing on its standard input."""
        return subprocess.run(
            [bazelw, *arguments],
            env=self.environment(**variables),
            cwd=cwd or self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Make a Debian machine, used by root, without Bazel."""
    result = Machine(tmp_path)
    for name, body in FAKES.items():
        result.fake(name, body)
    for name in TOOLS:
        real = shutil.which(name)
        assert real, f"this machine has no {name}"
        (result.path / name).symlink_to(real)
    result.home.mkdir()
    return result


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Copy bazelw and its files for a test to change."""
    workspace = tmp_path / "work space"
    shutil.copytree(BAZELW.parent / "develop/bazel_root", workspace / "develop/bazel_root")
    fingerprint = "tools/fetch/catalog/fingerprint.sh"
    (workspace / fingerprint).parent.mkdir(parents=True)
    shutil.copy(BAZELW.parent / fingerprint, workspace / fingerprint)
    return Path(shutil.copy(BAZELW, workspace / "bazelw"))


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
    assert result.stderr == (
        "bazelw: no usable Bazel here, and no apt-get (Debian, Ubuntu) to make a Debian root with one. "
        "Install Bazel 7.4 or newer, or bazelisk, or name one in $BAZEL.\n"
    )
    assert list(machine.home.iterdir()) == []


def test_without_root_rights_it_says_what_to_do(machine: Machine) -> None:
    result = machine.run("build", FAKE_UID="1000")
    assert result.returncode == 1
    assert "only root can make a Debian root" in result.stderr
    assert "Install Bazel 7.4 or newer, or bazelisk" in result.stderr
    assert f"sudo env XDG_CACHE_HOME='{machine.home}/.cache' '{BAZELW.parent}'/bazelw --version\n" in result.stderr
    assert list(machine.home.iterdir()) == []


def test_without_root_rights_it_uses_the_root_that_is_there(machine: Machine) -> None:
    machine.run("build")
    result = machine.run("build", FAKE_UID="1000")
    assert result.stdout.startswith("<--bind>")
    assert result.stderr == ""


def test_root_is_made_once_and_then_used_in_silence(machine: Machine) -> None:
    first = machine.run("build", "//a b")
    (root,) = machine.roots()
    assert first.stderr == (
        f"bazelw: making a Debian forky root with Bazel in {root}: 1.4 GB, one to three minutes\n"
        "bazelw:   downloading packages with apt...\n"
        "bazelw: the Debian root is made\n"
    )
    second = machine.run("build", "//a b")
    assert second.stderr == ""
    assert first.stdout == second.stdout
    (call,) = machine.journal("mmdebstrap")
    assert call.endswith(f"forky {root}.partial {MIRROR}")
    assert sorted(entry.name for entry in machine.cache.iterdir()) == [root.name, "lock", "make_root.log"]


def test_root_holds_what_bazel_needs_and_no_addresses(machine: Machine) -> None:
    machine.run("build")
    (root,) = machine.roots()
    files = root / "usr/share/bazel/rules_rocm_python"
    assert (files / "build-data.properties").read_text() == "build.label=7.7.1\n"
    assert (files / "cacerts.p12").read_text() == "certificates for Java\n"
    assert (root / "etc/bazel").is_dir()
    assert not (root / "etc/apt/sources.list").exists()


def test_apts_way_to_the_network_is_carried_over(machine: Machine) -> None:
    machine.run("build")
    settings = machine.journal("apt.conf")
    assert 'Acquire::http::Proxy "http://proxy.invalid:3128";' in settings
    assert 'Acquire::Languages "none";' not in settings


def test_without_a_debian_mirror_mmdebstrap_chooses(machine: Machine) -> None:
    machine.fake("apt-get", "")
    machine.run("build")
    (root,) = machine.roots()
    (call,) = machine.journal("mmdebstrap")
    assert call.endswith(f"forky {root}.partial")
    assert "-q update" in machine.journal("apt-get")


def test_missing_tools_are_named_and_installed(machine: Machine) -> None:
    body = (machine.path / "mmdebstrap").read_text()
    (machine.path / "mmdebstrap").unlink()
    (machine.folder / "mmdebstrap").write_text(body)
    machine.fake("apt-get", f'case "$*" in *install*) mv "{machine.folder}/mmdebstrap" "{machine.path}" ;; esac')
    (machine.folder / "mmdebstrap").chmod(0o755)
    result = machine.run("build")
    assert "bazelw: installing with apt-get: mmdebstrap" in result.stderr
    assert "bubblewrap" not in result.stderr
    assert result.stdout.startswith("<--bind>")


def test_failed_install_is_reported(machine: Machine) -> None:
    (machine.path / "mmdebstrap").unlink()
    machine.fake("apt-get", 'case "$*" in *install*) echo "E: no such package"; exit 100 ;; esac')
    result = machine.run("build")
    assert result.returncode == 1
    assert "E: no such package\nbazelw: failed: apt-get " in result.stderr
    assert machine.roots() == []


def test_failure_shows_the_log_and_leaves_nothing_half_made(machine: Machine) -> None:
    result = machine.run("build", FAKE_BROKEN="1")
    assert result.returncode == 1
    assert result.stdout == ""
    assert "E: the mirror is on fire\n" in result.stderr
    assert f"bazelw: failed: mmdebstrap (the whole log: {machine.cache}/make_root.log)\n" in result.stderr
    assert machine.roots() == []
    assert machine.run("build").stdout.startswith("<--bind>")


def test_container_without_namespaces_is_told_before_anything_is_fetched(machine: Machine) -> None:
    machine.fake("bwrap", "echo 'bwrap: Operation not permitted' >&2; exit 1")
    result = machine.run("build")
    assert result.returncode == 1
    assert "bwrap: Operation not permitted\n" in result.stderr
    assert "does not let root make namespaces" in result.stderr
    assert machine.journal("mmdebstrap") == []


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
    assert len(machine.journal("mmdebstrap")) == 1


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
    assert "<--setenv><PATH></usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin>" in command


def test_a_bazel_that_calls_bazelw_is_not_asked_without_end(machine: Machine) -> None:
    machine.fake("bazel", f'exec {BAZELW} "$@"')
    result = machine.run("build", "//:all")
    assert "</etc/bazel/bazel><build><//:all>" in result.stdout
    assert machine.journal("bazel") == ["--version"]


def test_oras_of_the_machine_is_on_path_inside(machine: Machine) -> None:
    place = "</usr/local/bin/oras>"
    assert place not in machine.run("run").stdout
    elsewhere = machine.fake("oras", "").rename(machine.folder / "oras")
    (machine.path / "oras").symlink_to(elsewhere)
    command = machine.run("run").stdout.splitlines()[0]
    assert f"<--tmpfs></usr/local/bin><--ro-bind><{elsewhere}>{place}" in command
    assert "<--setenv><PATH></usr/local/bin:" in command


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
    ('common --repo_env=ROCM_ARTIFACTS_DIR="/with a space"/x', ["/with a space/x"]),
    ("common '--repo_env=ROCM_ARTIFACTS_DIR=/with a \"quote' --x", ['/with a "quote']),
    ("common --repo_env=ROCM_ARTIFACTS_DIR=/a\\ b\\\\c'\\''", ["/a b\\c'"]),
    ("common --x \\\n  --repo_env=ROCM_ARTIFACTS_DIR=/a\\\n/b", ["/a/b"]),
    ("# common --repo_env=ROCM_ARTIFACTS_DIR=/a", []),
    ("common --x # --repo_env=ROCM_ARTIFACTS_DIR=/a", []),
    ("common --repo_env=ROCM_ARTIFACTS_DIR=", []),
    ("try-import %workspace%/$(touch planted)\ncommon --repo_env=ROCM_ARTIFACTS_DIR=/$HOME`id`", ["/$HOME`id`"]),
    ("common --repo_env=ROCM_ARTIFACTS_DIR=/no/line/break", ["/no/line/break"]),
    ("common --repo_env=ROCM_WINDOWS_ARTIFACTS_DIR=/w --repo_env=ROCM_ARTIFACTS_DIR=/l", ["/l", "/w"]),
]


@pytest.mark.parametrize(("text", "expected"), RC_LINES)
def test_lines_of_rc_files_are_read_as_bazel_reads_them(machine: Machine, text: str, expected: list[str]) -> None:
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
