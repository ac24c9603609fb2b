"""Two builds under conditions as different as we can make them give the same bytes.

    python3 -m tests.e2e.builds.reproducible [--artifacts DIR]

Run it from the top of the workspace, as root on Debian for all of it. The workspace is copied to two places and built
in each, from two copies of the artifacts (without them, the embedded SDK). The second build has another directory,
user, home, umask, locale, time zone and host name, one core and another `--jobs`; //tests/hermetic:actions_test has
another clock. Prints what was different and the SHA-256 of every distribution and plan; the exit code is 1 if one of
them differs.
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import replace
from pathlib import Path

from tests.e2e.testing.builds import Workspace, built, copy_workspace

USER = "54321"
HOST = "another-machine"
COMPARED = ("*.whl", "*.tar.gz", "*.metadata", "*.plan.json")
TARGETS = ("//packaging:all_wheels",)


def copy_artifacts(source: Path, target: Path) -> None:
    """Copy artifacts, in reverse and with new dates, so that file systems list and date them differently."""
    for folder in sorted(source.iterdir(), reverse=True):
        if folder.is_dir():
            shutil.copytree(folder.resolve(), target / folder.name, symlinks=True, copy_function=shutil.copy)


def changed_conditions() -> tuple[str, ...]:
    """Return what runs a command under the conditions of the second build; says what this machine does not allow."""
    wrapper: tuple[str, ...] = ("sh", "-c", 'umask 077 && exec "$0" "$@"', "taskset", "--cpu-list", "0")
    if os.getuid() == 0:
        user = ("setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups")
        host = ("unshare", "--uts", "sh", "-c", f'hostname {HOST} && exec "$0" "$@"')
        for condition, command in (("another user", user), ("another host name", host)):
            if subprocess.run([*command, "true"], capture_output=True, check=False).returncode:
                print(f"not different: {condition}, which this machine does not allow")
            else:
                wrapper = (*command, *wrapper) if condition.endswith("name") else (*wrapper, *command)
    else:
        print("not different: user and host name, for which root is needed")
    return wrapper


def debian_root(workspace: Workspace) -> Path | None:
    """Return the Debian root that a workspace's Bazel server runs in; None if it runs in none.

    An older version of the project may have left its own beside it, so the server's mounts say which.
    """
    mounts = Path(f"/proc/{workspace.info('server_pid')}/mountinfo").read_text(encoding="utf-8").splitlines()
    name = next(Path(root).name for _, _, _, root, place, *_ in map(str.split, mounts) if place == "/")
    roots = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "rules_rocm_python")
    return roots / name if (roots / name / ".whole").is_file() else None


def copy_debian_root(root: Path, cache: Path) -> None:
    """Copy a Debian root to where bazelw looks for it in another cache directory."""
    target = cache / "rules_rocm_python" / root.name
    target.parent.mkdir(parents=True, exist_ok=True)
    # Links to the same files: what is added to the copy is not in the original.
    subprocess.run(["cp", "-al", root, target], check=True)


def digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every distribution and plan of a build."""
    files = sorted(file for pattern in COMPARED for file in folder.glob(pattern))
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def different_members(first: Path, second: Path) -> list[str]:
    """Name the members of two wheels that differ, or that only one has."""
    if first.suffix != ".whl":
        return []
    with zipfile.ZipFile(first) as one, zipfile.ZipFile(second) as other:
        crcs = [{member.filename: member.CRC for member in archive.infolist()} for archive in (one, other)]
    return sorted({name for name, _ in crcs[0].items() ^ crcs[1].items()})


def compare(first: Path, second: Path) -> int:
    """Compare what two builds made; print the digests and return the exit code."""
    ours, theirs = digests(first), digests(second)
    for name in sorted({**ours, **theirs}):
        same = ours.get(name) == theirs.get(name)
        print(f"{'same     ' if same else 'DIFFERENT'} {ours.get(name)} {name}")
        if not same and name in ours and name in theirs:
            print(f"          {theirs[name]}: {different_members(first / name, second / name)[:10]}")
    distributions = [name for name in ours if name.endswith((".whl", ".tar.gz"))]
    print(f"{len(distributions)} distributions and {len(ours) - len(distributions)} plans and metadata files compared")
    return 0 if ours == theirs and distributions else 1


def second_workspace(first: Workspace, place: Path) -> Workspace:
    """Return the second workspace, with its conditions."""
    home = place / "home"
    for folder in (place, home):
        folder.mkdir(parents=True, exist_ok=True)
    environment = {"HOME": str(home), "LC_ALL": "en_US.iso88591", "TZ": "KTM-5:45", "USER": "somebody"}
    artifacts = place / "artifacts of another name" if first.artifacts else None
    copy_workspace(place / "the-same-in-another-place")
    if first.artifacts and artifacts:
        copy_artifacts(first.artifacts, artifacts)
    startup = (f"--output_user_root={place / 'output'}",)
    return Workspace(place / "the-same-in-another-place", artifacts, startup, changed_conditions(), environment)


def conditions(workspace: Workspace) -> str:
    """Read from the kernel under which conditions a workspace's server runs."""
    status = Path(f"/proc/{workspace.info('server_pid')}/status").read_text()
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    return f"user {fields['Uid'].split()[0]}, umask {fields['Umask']}, core {fields['Cpus_allowed_list']}"


def run(artifacts: Path | None, scratch: Path) -> int:
    """Build twice in a folder, and compare."""
    first = Workspace(scratch / "first", artifacts, startup=(f"--output_base={scratch / 'output'}",))
    copy_workspace(first.directory)
    second, cache = second_workspace(first, scratch / "second"), scratch / "second/cache"
    second = replace(second, environment={**second.environment, "XDG_CACHE_HOME": str(cache)})
    try:
        build = built(first.build(*TARGETS))
        print(f"first build: {build.seconds:.0f} s in {first.directory}: {conditions(first)}")
        if root := debian_root(first):
            copy_debian_root(root, cache)
        if os.getuid() == 0:
            for folder, names, files in os.walk(scratch / "second"):
                names[:] = [name for name in names if name != "cache"]
                for name in ("", *files):
                    os.chown(Path(folder, name), int(USER), int(USER), follow_symlinks=False)
        build = built(second.build(*TARGETS, options=("--jobs=3",)))
        print(f"second build: {build.seconds:.0f} s in {second.directory}: {conditions(second)}, {second.environment}")
        return compare(first.directory / "bazel-bin/packaging", second.directory / "bazel-bin/packaging")
    finally:
        for workspace in (first, second):
            workspace.run("shutdown")


def main() -> int:
    """Parse the command line, and clean up in the end."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--artifacts", type=Path, help="directory of artifact folders (default: the embedded SDK)")
    args = parser.parse_args()
    os.umask(0o022)
    scratch = Path(tempfile.mkdtemp(prefix="rocm-twice-"))
    scratch.chmod(0o755)
    try:
        return run(args.artifacts.resolve() if args.artifacts else None, scratch)
    finally:
        subprocess.run(["chmod", "-R", "u+w", scratch / "output", scratch / "second/output"], check=False)
        subprocess.run(["rm", "-rf", "--one-file-system", scratch], check=False)


if __name__ == "__main__":
    sys.exit(main())
