"""Channels for real: a directory, an S3 server (OpenStack Swift), a bucket with faults, and `uv publish` to pypiserver.

    python3 -m tests.e2e.channel.locked_programs tests.e2e.channel.places --dist DIR

Run it from the top of the workspace. DIR is what `//packaging:dist` or `//tests/mini/split:dist` has. All servers run
on this machine only. Shown are: the same bytes in two streams once, what a second call sends, refusals, installations
with pip and uv, a full disk, foreign files, and what is seen of each fault of a bucket.
"""

import argparse
import base64
import hashlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.e2e.channel.bucket_server import FaultyBucket, bucket_server
from tests.e2e.channel.channel_kills import reader_of, web_server
from tests.e2e.channel.locked_programs import pip_install, run_alone
from tests.e2e.channel.swift_server import swift_server
from tests.e2e.testing.builds import WORKSPACE
from tests.e2e.testing.servers import free_port, running

USER, PASSWORD = "publisher", "correct horse"


@dataclass(frozen=True)
class ChannelCommand:
    """The command, with the Python that has what it needs, for one channel."""

    programs: Path
    place: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)

    def run(self, command: str, *arguments: object, status: int = 0) -> str:
        """Run it; return all that it printed. Raises AssertionError if it ends otherwise than expected."""
        program = [self.programs / "python", "-B", "-m", "wheels.channel.tool", command, *self.place, *arguments]
        done = subprocess.run(
            [str(one) for one in program],
            cwd=WORKSPACE,
            env=os.environ | dict(self.environment),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == status, f"{command} {arguments}: status {done.returncode}\n{done.stdout}"
        assert "Traceback" not in done.stdout, done.stdout
        return done.stdout

    def with_environment(self, **variables: str) -> "ChannelCommand":
        """Return the same with further variables."""
        return replace(self, environment={**self.environment, **variables})


def tree(directory: Path) -> dict[str, str]:
    """Return the SHA-256 of all files of a directory."""
    found = (path for path in sorted(directory.rglob("*")) if path.is_file())
    return {path.relative_to(directory).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in found}


def changed(dist: Path, scratch: Path) -> Path:
    """Return a copy of a build in which one wheel has one more byte, behind its end."""
    copy = scratch / "changed"
    shutil.copytree(dist, copy, dirs_exist_ok=True)
    wheel = min(copy.glob("rocm_sdk_core-*.whl"))
    content = wheel.read_bytes()
    wheel.unlink()
    wheel.write_bytes(content + bytes(1))
    return copy


def check_life(command: ChannelCommand, dist: Path, scratch: Path) -> None:
    """Use a channel as its page says: all that is the same in every kind of place."""
    command.run("init", "--stream=nightly", "--stream=stable", "--grace=0s", "--settle=0s")
    assert "would change nightly" in command.run("add", "--dry-run", "--stream=nightly", dist)
    assert "0 files" in command.run("check")
    assert "sent" in command.run("add", "--stream=nightly", dist)
    assert "files are listed" in command.run("add", "--stream=nightly", dist)
    assert "sent" not in command.run("add", "--stream=stable", dist), "bytes were sent twice"
    output = command.run("add", "--stream=stable", changed(dist, scratch), status=1)
    for text in ("other bytes under the same name", "in the channel: sha256", "this build: sha256", "another version"):
        assert text in output, output
    assert " 0 complaints" in command.run("check")
    assert "nothing to retire" in command.run("retire", "--stream=nightly", "--older-than=0s")
    private, public = scratch / "key.pem", scratch / "key.pub"
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", private], check=True)
    subprocess.run(["openssl", "pkey", "-in", private, "-pubout", "-out", public], check=True)
    trust = f"--trust={public}", f"--seen={scratch / 'seen'}"
    assert "unsigned" in command.run("check", *trust, status=1)
    for _ in range(2):
        command.run("sign", f"--key={private}")
        assert " 0 complaints" in command.run("check", *trust)


def check_installed(command: ChannelCommand, url: str, scratch: Path) -> None:
    """Install from a stream with pip and uv."""
    for stream, program in (("nightly", "pip"), ("stable", "uv")):
        target = scratch / f"installed with {program}"
        options = ("--pre", f"--index-url={url}/{stream}/static/simple/", f"--target={target}", "rocm[libraries]")
        if program == "pip":
            pip_install(command.programs / "python", *options)
        else:
            options = ("--prerelease=allow", *options[1:])
            uv = (command.programs / "uv", "pip", "install", "--no-cache", f"--python={command.programs / 'python'}")
            run_alone(*uv, *options)
        assert (target / "rocm_sdk_libraries" / "__init__.py").is_file()


def check_directory(programs: Path, dist: Path, scratch: Path) -> None:
    """Keep a channel in a directory that has foreign files."""
    root = scratch / "channel"
    foreign = {"index.html": "mine", "deep/.x.partial": "mine", "files/README": "mine", "nightly.txt": "mine"}
    for name, text in foreign.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    command = ChannelCommand(programs, (f"--channel={root}",))
    (root / "stable").mkdir()
    assert "stable is there, and is not of this channel" in command.run("init", "--stream=stable", status=2)
    (root / "stable").rmdir()
    check_life(command, dist, scratch)
    missing: list[str] = []
    with web_server(reader_of(root, None), missing) as url:
        check_installed(command, url, scratch)
    assert not missing, missing
    os.mkfifo(fifo := scratch / "acme-1.0-py3-none-any.whl")
    assert "is not a regular file" in command.run("add", "--stream=nightly", fifo, status=2)
    assert {name: (root / name).read_text() for name in foreign} == foreign
    check_full_disk(command, dist, scratch)


def check_full_disk(command: ChannelCommand, dist: Path, scratch: Path) -> None:
    """Add to a channel on a disk that is full at some point: what is listed stays whole. Mounting needs root."""
    if os.geteuid():
        print("  the full disk was left out: only root mounts one")
        return
    disk = scratch / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=500k", "tmpfs", disk], check=True)
    try:
        small = replace(command, place=(f"--channel={disk / 'channel'}",))
        small.run("init", "--stream=nightly")
        for size, status in (("200k", 0), ("500k", 1)):  # Full while files are sent, and while pages are written.
            subprocess.run(["mount", "-o", f"remount,size={size}", disk], check=True)
            output = small.run("add", "--stream=nightly", dist, status=2)
            assert output.strip().splitlines()[-1].count("the disk is full: no room for") == 1, output
            output = small.run("check", status=status)
            told = "unfinished: a change was interrupted\nremedy for unfinished: "
            assert status == 0 or output.startswith(told), output
        subprocess.run(["mount", "-o", "remount,size=9M", disk], check=True)
        assert "completing change" in small.run("add", "--stream=nightly", dist)
        assert " 0 complaints" in small.run("check")
    finally:
        subprocess.run(["umount", disk], check=True)


def check_swift(programs: Path, dist: Path, scratch: Path) -> None:
    """Keep a channel in a bucket of Swift, which checks signatures and sums, and does not know `If-Match`."""
    import boto3
    from botocore.config import Config

    with swift_server(programs, scratch / "swift") as server:
        client = boto3.session.Session().client(
            "s3",
            endpoint_url=server.url,
            aws_access_key_id=server.access_key,
            aws_secret_access_key=server.secret_key,
            config=Config(s3={"addressing_style": "path"}),
        )
        client.create_bucket(Bucket="packages")
        command = ChannelCommand(programs, ("--channel=s3://packages/some/prefix", f"--endpoint-url={server.url}"))
        output = command.run("init", "--stream=nightly", status=2)
        assert "no credentials; set AWS_ACCESS_KEY_ID" in output, output
        command = command.with_environment(AWS_ACCESS_KEY_ID=server.access_key, AWS_SECRET_ACCESS_KEY="wrong")
        assert "SignatureDoesNotMatch" in command.run("init", "--stream=nightly", status=2)
        command = command.with_environment(AWS_SECRET_ACCESS_KEY=server.secret_key)
        absent = replace(command, place=("--channel=s3://absent-bucket", f"--endpoint-url={server.url}"))
        assert "NoSuchBucket" in absent.run("init", "--stream=nightly", status=2)
        check_life(command, dist, scratch)


#: What goes wrong, with which requests, and what the command then says; nothing if it goes on.
FAULTS: Mapping[str, tuple[Callable[[str, int], str], int, str]] = {
    "503 to every fifth request": (lambda request, number: "503" if number % 5 == 0 else "", 0, ""),
    "500 to every fifth request": (lambda request, number: "500" if number % 5 == 0 else "", 0, ""),
    "connections are cut, and nothing was done": (lambda request, number: "lost" if number % 4 == 0 else "", 0, ""),
    "answers are cut off": (lambda request, number: "cut" if number % 4 == 0 else "", 0, ""),
    "slow answers": (lambda request, number: "slow" if number % 9 == 0 else "", 0, ""),
    "expired credentials": (lambda request, number: "expired" if number > 9 else "", 2, "ExpiredToken"),
}


@contextmanager
def faulty(programs: Path) -> Iterator[tuple[ChannelCommand, FaultyBucket]]:
    """Yield an empty channel in a bucket that can fail."""
    with bucket_server() as bucket:
        keys = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_DEFAULT_REGION": "us-east-1"}
        command = ChannelCommand(programs, ("--channel=s3://packages", f"--endpoint-url={bucket.url}"), keys)
        command.run("init", "--stream=nightly", "--grace=0s", "--settle=0s")
        yield command, bucket


def check_faults(programs: Path, dist: Path, scratch: Path) -> None:
    """Add a build while a bucket fails in each way, and look at what is there."""
    with faulty(programs) as (command, bucket):
        check_life(replace(command, place=("--channel=s3://packages/life", *command.place[1:])), dist, scratch)
        with web_server(reader_of(Path("/"), bucket), []) as url:
            check_installed(command, f"{url}/life", scratch)
    for title, (fault, status, said) in FAULTS.items():
        with faulty(programs) as (command, bucket):
            numbers = iter(range(1, 10**6))
            bucket.faults = lambda request, fault=fault, numbers=numbers: fault(request, next(numbers))  # type: ignore[misc]
            output = command.run("add", "--stream=nightly", dist, status=status)
            assert said in output, output
            bucket.faults = lambda request: ""
            assert " 0 complaints" in command.run("check")
            command.run("add", "--stream=nightly", dist)
            assert " 0 complaints" in command.run("check")
            print(f"  {title}: {output.strip().splitlines()[-1][:150]}")
    with faulty(programs) as (command, bucket):
        bucket.stale = dict(bucket.objects)
        output = command.run("add", "--stream=nightly", dist)
        bucket.stale = None
        assert " 0 complaints" in command.run("check")
        print(f"  a stale listing: {output.strip().splitlines()[-1][:150]}")
    for skew in (-86400, 86400):
        with faulty(programs) as (command, bucket):
            bucket.skew = skew
            command.run("add", "--stream=nightly", dist)
            foreign = b'{"owner": "somebody@elsewhere, process 1", "since": "2026-01-01T00:00:00Z"}'
            bucket.objects["lock.json"] = replace(bucket.objects["channel.json"], content=foreign, written=bucket.now())
            output = command.run("retire", "--stream=nightly", "--older-than=0s", "--wait=1s", status=1)
            assert "somebody@elsewhere, process 1, since 2026-01-01T00:00:00Z, is changing the channel" in output, (
                output
            )
            bucket.objects["lock.json"] = replace(bucket.objects["lock.json"], written=bucket.now() - 200)
            command.run("retire", "--stream=nightly", "--older-than=0s", "--wait=1s")
            print(f"  a clock that is {skew} s off: {output.strip().splitlines()[-1][:150]}")


def check_package_index(programs: Path, dist: Path, scratch: Path) -> None:
    """Upload to pypiserver, which asks for a password, as the page on channels says, twice."""
    packages, passwords = scratch / "packages", scratch / "passwords"
    packages.mkdir()
    # SHA-1 in the form of Apache's htpasswd: what passlib reads without further libraries.
    passwords.write_text(f"{USER}:{{SHA}}{base64.b64encode(hashlib.sha1(PASSWORD.encode()).digest()).decode()}\n")
    port = free_port()
    server = (programs / "pypi-server", "run", "--interface=127.0.0.1", f"--port={port}", "--disable-fallback")
    options = ("--hash-algo=sha256", f"--passwords={passwords}", "--authenticate=update", packages)
    files = sorted([*dist.glob("*.whl"), *dist.glob("*.tar.gz")])
    url = f"http://127.0.0.1:{port}"
    with running("pypiserver", (*server, *options), port, scratch):
        for _ in range(2):
            command = [
                "env",
                f"UV_PUBLISH_USERNAME={USER}",
                f"UV_PUBLISH_PASSWORD={PASSWORD}",
                programs / "uv",
                "publish",
            ]
            run_alone(*command, f"--publish-url={url}/", f"--check-url={url}/simple/", *files)
    assert tree(packages) == {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def main() -> int:
    """Check all kinds of places."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dist", type=Path, required=True, help="directory of distributions with its index")
    parser.add_argument("--programs", type=Path, required=True, help="where what requirements.txt locks is")
    arguments = parser.parse_args()
    checks = {
        "directory": check_directory,
        "bucket with faults": check_faults,
        "Swift": check_swift,
        "package index": check_package_index,
    }
    for title, check in checks.items():
        with tempfile.TemporaryDirectory(prefix="rocm-channel-") as scratch:
            start = time.monotonic()
            check(arguments.programs, arguments.dist.resolve(), Path(scratch))
            print(f"{title}: as docs/release/channel.md says ({time.monotonic() - start:.0f} s)", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
