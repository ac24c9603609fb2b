"""From a served bucket to an installation: lock, build, publish, serve, install with pip and uv by hash.

    python3 -m tests.e2e.channel.served_bucket --artifacts DIR [--scratch DIR]

Run it from the top of the workspace. DIR has artifact folders of the split layout, as `python3 -m
develop.real_rocm.fetch --small` lays them out. They are packed as `.tar.zst` with a `.sha256sum` beside each and served
by nginx on this machine, as CI's bucket is: `index.html` of the top is a listing of S3. In a copy of the workspace they
are locked and built; what was built is added to a channel, which nginx serves, and installed from there where every
file has to have the hash of a lock. An archive that is gone, a flipped byte in it, and listings that are wrong, are
errors that name what is wrong.

With --scratch the copy of the workspace and Bazel's output stay there, which makes a further run faster.
"""

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.e2e.channel.locked_installs import check_installs
from tests.e2e.channel.locked_programs import in_environment
from tests.e2e.index.documented_nginx import index_server
from tests.e2e.testing.builds import Workspace, built, copy_workspace
from tests.e2e.testing.nginx import listing_server, put_nginx_on_path

RUN_ID, PLATFORM = "21440027240", "linux"
RUN = f"{RUN_ID}-{PLATFORM}"
LOCK = "rocm_artifacts.lock.json"
CHOICE = "--repo_env=ROCM_ARTIFACTS=locked"
#: Of core; small enough to be fetched at once, and needed by every build.
VICTIM = "core-runtime_lib_generic.tar.zst"


@contextmanager
def step(what: str) -> Iterator[None]:
    """Print what was done, and how long it took."""
    start = time.monotonic()
    yield
    print(f"{what} ({time.monotonic() - start:.0f} s)", flush=True)


def lock(workspace: Workspace, url: str, *options: str, fails: bool = False) -> str:
    """Run the command that locks; return what it printed. Raises AssertionError if it ends otherwise than expected."""
    result = workspace.run("run", "//tools/fetch/lock", "--", "lock", f"--base-url={url}", *options)
    assert (result.returncode != 0) == fails, result.stdout
    assert "Traceback" not in result.stdout, result.stdout
    return result.stdout


def assert_says(output: str, *texts: str) -> None:
    """Assert that a message has all that people need."""
    for text in texts:
        assert text in output, f"{text!r} is missing in:\n{output}"


def listing(sizes: dict[str, int]) -> str:
    """Return S3's listing of archives of the run (ListObjectsV2), by their sizes in bytes."""
    rows = "".join(f"<Contents><Key>{RUN}/{name}</Key><Size>{size}</Size></Contents>" for name, size in sizes.items())
    return f"<ListBucketResult><IsTruncated>false</IsTruncated>{rows}</ListBucketResult>"


def check_lock(workspace: Workspace, run: Path, url: str) -> None:
    """Lock, and compare the lock with the bucket."""
    lock(workspace, url, f"--run-id={RUN_ID}")
    document = json.loads((workspace.directory / LOCK).read_text())
    archives = sorted(run.glob("*.tar.zst"))
    assert [f"{one['name']}.tar.zst" for one in document["archives"]] == [path.name for path in archives]
    for one, path in zip(document["archives"], archives, strict=True):
        assert one["size"] == path.stat().st_size
        assert f"{one['sha256']}  {path.name}\n" == path.with_name(f"{path.name}.sha256sum").read_text()


def check_wrong_listings(workspace: Workspace, run: Path, url: str) -> None:
    """Lock from listings that are absent, that are none, that name what is not there or what is no artifact."""
    before = (workspace.directory / LOCK).read_bytes()
    output = lock(workspace, url, "--run-id=1", fails=True)
    assert_says(output, f"{url}/?list-type=2", f"{RUN}/", "which is not below '1-linux/' as asked")
    cases = {
        "no listing": "<!DOCTYPE html><p>Welcome!</p>",
        "names no artifact": listing({"hello_world.tar.zst": 5}),
        "names what is not there": listing({"absent_lib_generic.tar.zst": 5}),
    }
    index = run.parent / "index.html"
    right = index.read_text()
    for title, text in cases.items():
        index.write_text(text)
        try:
            output = lock(workspace, url, f"--run-id={RUN_ID}", fails=True)
            assert_says(output, url)
        finally:
            index.write_text(right)
        print(f"  {title}: {next(line for line in output.splitlines() if line.startswith('ERROR: tool'))[:200]}")
    assert (workspace.directory / LOCK).read_bytes() == before, "a lock that failed has changed the lock file"


def check_damaged_archives(workspace: Workspace, run: Path) -> None:
    """Build with an archive that is gone, and with a flipped byte in an archive."""
    archive = run / VICTIM
    content = bytearray(archive.read_bytes())
    content[len(content) // 2] ^= 1
    kept = archive.with_name("kept")
    archive.rename(kept)
    try:
        build = workspace.build("//packaging:core_plan", options=(CHOICE,))
        assert not build.succeeded
        assert_says(build.output, VICTIM, "404")
        archive.write_bytes(content)
        build = workspace.build("//packaging:core_plan", options=(CHOICE,))
        assert not build.succeeded
        assert_says(build.output, VICTIM, "Checksum was")
    finally:
        kept.replace(archive)


def check(workspace: Workspace, artifacts: Path, scratch: Path, programs: Path) -> None:
    """Go the whole way."""
    from tests.e2e.channel.bucket import make_bucket  # It needs what is only installed where this runs.

    bucket, packages = scratch / "bucket", scratch / "packages"
    run = bucket / RUN
    with step("packed the artifacts"):
        archives = make_bucket(artifacts, run)
        (bucket / "index.html").write_text(listing({path.name: path.stat().st_size for path in archives}))
    packages.mkdir()
    put_nginx_on_path(scratch / "nginx")
    with (
        listing_server(bucket, scratch / "bucket-nginx") as url,
        index_server(packages, scratch / "packages-nginx", negotiates=True) as server,
    ):
        with step("locked"):
            check_lock(workspace, run, url)
        with step("wrong listings are refused"):
            check_wrong_listings(workspace, run, url)
        with step("damaged archives are refused"):
            check_damaged_archives(workspace, run)
        with step("built"):
            built(workspace.build("//packaging:dist", options=(CHOICE,)))
        dist = workspace.directory / "bazel-bin/packaging/dist"
        with step("published"):
            command = ("run", CHOICE, "//wheels", "--", "channel")
            place = (f"--channel={packages}", "--stream=nightly")
            for arguments in (("init", *place), ("add", *place, str(dist)), ("add", *place, str(dist))):
                result = workspace.run(*command, *arguments)
                assert result.returncode == 0, result.stdout
            assert "files are listed" in result.stdout, result.stdout
        with step("installed with pip and uv, by hash"):
            check_installs(programs, dist, f"{server.url}nightly", scratch)


def main() -> int:
    """Run everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--artifacts", type=Path, required=True, help="directory of artifact folders, split layout")
    parser.add_argument("--scratch", type=Path, help="directory that keeps the copy of the workspace and its builds")
    parser.add_argument(
        "--programs", type=Path, help="where what requirements.txt locks is installed (default: nowhere yet)"
    )
    arguments = parser.parse_args()
    if not arguments.programs:
        return in_environment("tests.e2e.channel.served_bucket", sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix="rocm-served-bucket-") as name:
        keep = arguments.scratch or Path(name)
        shutil.rmtree(keep / "workspace", ignore_errors=True)
        copy_workspace(keep / "workspace")
        workspace = Workspace(
            keep / "workspace",
            startup=(f"--output_base={keep}/output",),
            # No archive may come from an earlier run, which would hide what is wrong with this one.
            options=("--repository_cache=",),
        )
        try:
            check(workspace, arguments.artifacts.resolve(), Path(name), arguments.programs)
        finally:
            workspace.run("shutdown")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
