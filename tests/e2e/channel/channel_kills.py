"""Two publishers are killed at seeded points, while pip, uv and a reader use the channel over HTTP.

    python3 -m tests.e2e.channel.locked_programs tests.e2e.channel.channel_kills --kills 1000 --place directory|bucket

Run it from the top of the workspace. Each publisher adds builds of an SDK of its own to one stream, and retires old
ones, and promotes builds to another stream; a command is killed (SIGKILL) before or after a step that changes the
place, and called again until it is done. Clients install the newest build of a stream, or one of the last three. It
fails for a 404, a wrong hash, a requirement that nothing meets, and whatever `check` finds at the end. It prints how
many kills there were in which command.
"""

import argparse
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from develop.testing.channel_sample import sound, wheel, write
from tests.e2e.channel.bucket_server import FaultyBucket, bucket_server
from tests.e2e.channel.locked_programs import ALONE

STREAM, RELEASES = STREAMS = ("nightly", "stable")
SDKS = ("acme", "other")
#: Seconds after which required files are unlisted, and files deleted: longer than a client takes.
SETTLE, GRACE = 20, 40
#: Builds of both SDKs that stay.
KEEP = 10
#: Steps of a command, about: a kill comes at one of them, or too late.
STEPS = {
    ("directory", "add"): 180,
    ("directory", "promote"): 180,
    ("directory", "retire"): 170,
    ("bucket", "add"): 40,
    ("bucket", "promote"): 44,
    ("bucket", "retire"): 36,
}
JSON = "application/vnd.pypi.simple.v1+json"


def build(directory: Path, sdk: str, version: str, *, is_release: bool = False) -> Path:
    """Write a build: a package that requires libraries, which require core, and a framework, unless it is a release."""
    core = f"{sdk}-core"
    wheels = [
        wheel(core, version),
        wheel(f"{sdk}-libraries", version, f"Requires-Dist: {core}=={version}"),
        wheel(sdk, version, f"Requires-Dist: {sdk}-libraries=={version}", tag="py3-none-any"),
    ]
    if not is_release:
        name, data = wheel(f"{sdk}-torch", f"2.0+{version}", f"Requires-Dist: {sdk}=={version}")
        wheels.append((name, sound(data)))
    return write(directory / f"{sdk} {version}", wheels)


def promotion(directory: Path, sdk: str, number: int) -> list[str]:
    """Return the arguments that promote a build: every second one is built again, and its framework rewritten."""
    version = f"1.{number}"
    arguments = [version, f"--from={STREAM}", f"--to={RELEASES}", f"--project={sdk}", f"--project={sdk}-*"]
    if number % 2:
        release = f"{version}.post1"
        arguments += [f"--version={release}", str(build(directory, sdk, release, is_release=True))]
    return arguments


# Publishers


def die_at(step: int) -> None:
    """Let this process be killed before the step with this number, of those that change a place."""
    left = [step]

    def stepping(work: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any, **options: Any) -> Any:
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return work(*arguments, **options)

        return run

    from botocore.client import BaseClient

    for name in ("fsync", "fchmod"):
        setattr(os, name, stepping(getattr(os, name)))
    for name in ("replace", "unlink", "symlink_to", "rmdir"):
        setattr(Path, name, stepping(getattr(Path, name)))
    BaseClient._make_api_call = stepping(BaseClient._make_api_call)


def command(arguments: list[str], killed_at: int, log: Path) -> int:
    """Run a command in a child that may be killed; return its status, negative for a signal."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    status = 99
    try:
        from wheels.channel.tool import main

        with log.open("a") as output, redirect_stdout(output), redirect_stderr(output):
            if killed_at:
                die_at(killed_at)
            print(arguments)
            status = main(arguments)
    finally:
        os._exit(status)


def publish(sdk: str, place: list[str], scratch: Path, kills: int, seed: int) -> int:
    """Add and retire until so many commands of all publishers were killed; write what happened to a file."""
    import wheels.channel.bucket
    import wheels.channel.tool  # noqa: F401  So that children begin at once.

    dice, counts, number = random.Random(f"{seed}{sdk}"), Counter[str](), 1
    log, killed = scratch / f"{sdk}.log", scratch / "killed"
    kind = "bucket" if len(place) > 1 else "directory"
    while not killed.exists() or killed.stat().st_size < kills:
        what = dice.choice(("add", "add", "promote", "retire"))
        killed_at = dice.randrange(1, STEPS[kind, what])
        arguments = [what, *place, "--wait=5m"]
        if what == "add":
            arguments += [f"--stream={STREAM}", str(build(scratch, sdk, f"1.{number}"))]
        elif what == "promote":
            arguments += promotion(scratch, sdk, number - 1)
        else:
            arguments += [f"--stream={dice.choice(STREAMS)}", "--older-than=0s", f"--keep-last={KEEP}"]
        status = command(arguments, killed_at, log)
        counts[{0: f"whole {what}", -9: f"killed {what}"}.get(status, f"{what} ended with {status}")] += 1
        if status == -signal.SIGKILL:
            with killed.open("a") as file:
                file.write(".")  # Of both publishers: a byte is appended whole.
        elif status:
            break
        number += what == "add" and status == 0
    (scratch / f"{sdk}.counts").write_text(json.dumps(counts))
    return 0


# What serves


@contextmanager
def web_server(read: Callable[[str], bytes | None], missing: list[str]) -> Iterator[str]:
    """Serve what `read` returns by path, as a web server with JSON for those who ask for it."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: Any) -> None:
            pass

        def do_GET(self) -> None:
            path, kind = unquote(self.path).lstrip("/").partition("?")[0], "application/octet-stream"
            if path.endswith("/"):
                is_json = JSON in self.headers.get("Accept", "")
                path, kind = path + ("index.json" if is_json else "index.html"), JSON if is_json else "text/html"
            content = read(path)
            if content is None:
                missing.append(f"{time.time():.3f} {path}")
            start, status = 0, 200 if content is not None else 404
            content = content or b""
            whole = len(content)
            if (span := self.headers.get("Range", "")) and status == 200:
                first, _, last = span.removeprefix("bytes=").partition("-")
                start = int(first) if first else max(whole - int(last), 0)
                content = content[start : int(last) + 1 if first and last else whole]
                status = 206
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Accept-Ranges", "bytes")
            self.send_header("Content-Length", str(len(content)))
            if status == 206:
                self.send_header("Content-Range", f"bytes {start}-{start + len(content) - 1}/{whole}")
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(content)

        do_HEAD = do_GET  # noqa: N815

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()


def reader_of(root: Path, bucket: FaultyBucket | None) -> Callable[[str], bytes | None]:
    """Return what reads a path of the channel, in a directory or in a bucket."""

    def from_directory(path: str) -> bytes | None:
        try:
            return (root / path).read_bytes()
        except OSError:
            return None

    def from_bucket(path: str) -> bytes | None:
        assert bucket is not None
        found = bucket.objects.get(path)
        return found.content if found else None

    return from_bucket if bucket else from_directory


# Clients


@dataclass
class Clients:
    """Those who install while publishers are killed."""

    url: str
    programs: Path
    scratch: Path
    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    end: threading.Event = field(default_factory=threading.Event)

    def run(self) -> list[threading.Thread]:
        """Start them."""
        works = (self.read, self.pip, self.uv)
        threads = [threading.Thread(target=self._loop, args=(work,)) for work in works]
        for thread in threads:
            thread.start()
        return threads

    def _loop(self, work: Callable[[random.Random], None]) -> None:
        dice = random.Random(work.__name__)
        while not self.end.is_set():
            try:
                work(dice)
                self.counts[work.__name__] += 1
            except Exception as error:
                self.faults.append(f"{time.time():.3f} {work.__name__}: {error!r}")

    def page(self, stream: str, project: str) -> dict[str, Any]:
        """Return the page of a project."""
        document: dict[str, Any] = json.loads(self.get(f"{self.url}/{stream}/simple/{project}/"))
        return document

    def get(self, url: str) -> bytes:
        """Return what is at a URL."""
        import urllib3

        answer = urllib3.request("GET", url, headers={"Accept": JSON}, retries=False)
        assert answer.status == 200, f"{url}: status {answer.status}"
        return bytes(answer.data)

    def read(self, dice: random.Random) -> None:
        """Read as an installer does: what a page lists is on the pages of what it requires, which are read next.

        A client that takes longer than SETTLE for a page is promised nothing; it is counted as `late`.
        """
        stream, sdk = dice.choice(STREAMS), dice.choice(SDKS)
        listed: set[str] | None = None
        began = time.monotonic()
        for project in (sdk, f"{sdk}-libraries", f"{sdk}-core"):
            files = self.page(stream, project)["files"]
            versions = {one["filename"].split("-")[1] for one in files}
            took = time.monotonic() - began
            if lacks := (listed or set()) - versions:
                assert took > SETTLE, f"{stream}, {project}: lacks {sorted(lacks)} after {took:.1f} s"
                self.counts["late"] += 1
                return
            listed, began = versions, time.monotonic()
            one = dice.choice(files)
            where = f"{self.url}/{stream}/simple/{project}/{one['url']}"
            assert hashlib.sha256(self.get(where)).hexdigest() == one["hashes"]["sha256"], one["filename"]
            metadata = hashlib.sha256(self.get(f"{where}.metadata")).hexdigest()
            assert metadata == one["core-metadata"]["sha256"], f"{one['filename']}.metadata"

    def install(self, dice: random.Random, *command: object) -> None:
        """Install the newest build, or one of the last three."""
        stream, sdk = dice.choice(STREAMS), dice.choice(SDKS)
        # An older one may be retired before the installer asks for it.
        wanted = sdk if dice.random() < 0.5 else f"{sdk}=={dice.choice(self.page(stream, sdk)['versions'][-3:])}"
        with tempfile.TemporaryDirectory(dir=self.scratch) as target:
            options = (f"--index-url={self.url}/{stream}/simple/", f"--target={target}", wanted)
            own = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "UV_"))}
            done = subprocess.run(
                [str(one) for one in (*command, *options)],
                env=own | ALONE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            assert done.returncode == 0, f"{wanted}: {done.stdout}"
            names = {path.stem for path in Path(target).glob("*.py")}
            assert names == {sdk, f"{sdk}_core", f"{sdk}_libraries"}, names

    def pip(self, dice: random.Random) -> None:
        """Install with pip."""
        options = ("--no-cache-dir", "--disable-pip-version-check", "--quiet", "--no-compile")
        self.install(dice, self.programs / "python", "-m", "pip", "install", *options)

    def uv(self, dice: random.Random) -> None:
        """Install with uv."""
        self.install(dice, self.programs / "uv", "pip", "install", "--no-cache", f"--python={self.programs / 'python'}")


# All together


def check_end(place: list[str], scratch: Path) -> None:
    """Retire what is left, and assert that nothing is wrong and nothing lies about."""
    log = scratch / "end.log"
    for stream in (*STREAMS, *STREAMS):
        assert command(["retire", *place, f"--stream={stream}", "--older-than=0s", "--keep-last=1"], 0, log) == 0
        time.sleep(1)
    assert command(["check", *place], 0, log) == 0, log.read_text()[-2000:]


def run(arguments: argparse.Namespace, scratch: Path) -> int:
    """Run everything; return the exit status."""
    with ExitStack() as stack:
        root, bucket = scratch / "channel", None
        place = [f"--channel={root}"]
        if arguments.place == "bucket":
            bucket = stack.enter_context(bucket_server())
            place = ["--channel=s3://bucket", f"--endpoint-url={bucket.url}"]
            os.environ |= {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_DEFAULT_REGION": "us-east-1"}
        tool = [arguments.programs / "python", "-B", "-m", "wheels.channel.tool"]
        settings = (f"--settle={SETTLE}s", f"--grace={GRACE}s", *(f"--stream={one}" for one in STREAMS))
        subprocess.run([*tool, "init", *place, *settings], check=True, stdout=subprocess.DEVNULL)
        for sdk in SDKS:
            added = [f"--stream={STREAM}", str(build(scratch, sdk, "1.0"))]
            for first in (["add", *place, *added], ["promote", *place, *promotion(scratch, sdk, 0)]):
                subprocess.run([*tool, *first], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        missing: list[str] = []
        url = stack.enter_context(web_server(reader_of(root, bucket), missing))
        clients = Clients(url, arguments.programs, scratch)
        begin = time.monotonic()
        # Processes of their own: what forks has no threads.
        program = [arguments.programs / "python", "-B", "-m", "tests.e2e.channel.channel_kills", "--publish"]
        rest = (json.dumps(place), scratch, arguments.kills, arguments.seed)
        publishers = [subprocess.Popen([str(one) for one in (*program, sdk, *rest)]) for sdk in SDKS]
        threads = clients.run()
        statuses = [one.wait() for one in publishers]
        clients.end.set()
        for thread in threads:
            thread.join()
        counts = Counter[str]()
        for sdk in SDKS:
            counts.update(json.loads((scratch / f"{sdk}.counts").read_text()))
        seconds = time.monotonic() - begin
        print(f"{arguments.place}, seed {arguments.seed}: {dict(sorted(counts.items()))} in {seconds:.0f} s")
        print(f"clients: {dict(clients.counts)}; {len(missing)} answers 404")
        check_end(place, scratch)
        wrong = [name for name in counts if "ended" in name]
        for fault in [*clients.faults[:5], *missing[:5], *wrong]:
            print(fault)
        if wrong:
            print("\n".join((scratch / f"{sdk}.log").read_text()[-1500:] for sdk in SDKS))
        return int(bool(clients.faults or missing or wrong or any(statuses)))


def main() -> int:
    """Run the command line."""
    if sys.argv[1:2] == ["--publish"]:
        sdk, place, scratch, kills, seed = sys.argv[2:]
        return publish(sdk, json.loads(place), Path(scratch), int(kills), int(seed))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=40, help="how many commands to kill (default: 40)")
    parser.add_argument("--seed", type=int, default=1, help="which points (default: 1)")
    parser.add_argument("--place", choices=("directory", "bucket"), default="directory", help="kind of place")
    parser.add_argument("--programs", type=Path, required=True, help="where what requirements.txt locks is")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rocm-channel-") as scratch:
        return run(arguments, Path(scratch))


if __name__ == "__main__":
    raise SystemExit(main())
