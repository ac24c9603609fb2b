"""Pushes images to a real registry (Debian's docker-registry) as docs/release/images.md says, and pulls them again.

    python3 -m tests.e2e.push.registry --layout DIR

Run it from the top of the workspace, where both programs and crane are on PATH. DIR is an OCI image layout with several
images. The registry asks for a password. It shows that all arrives with equal digests, with bills of materials;
that a second push sends no blob, and another image only the blobs that are not there, as an update does; and that a
pull fetches no more.
"""

import argparse
import base64
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.e2e.testing.images import LocalImage, read_images
from tests.e2e.testing.servers import free_port, running

#: The page with the commands that push.
PAGE = Path("docs/release/images.md")
#: What the page calls the layout and the registry.
PAGES_LAYOUT, PAGES_HOST = "bazel-bin/packaging/images", "registry.example.com"
USER, PASSWORD = "publisher", "correct horse"
#: What bcrypt makes of the password: the one kind of digest that the registry reads.
PASSWORDS = f"{USER}:$2y$05$abcdefghijklmnopqrstuuHNbAKRhpaujgo33bRWs.NLUTJO3lOy2\n"
#: A line of the registry's log: the method and the path of a request.
REQUEST = re.compile(r'"(?P<method>[A-Z]+) (?P<path>/v2/\S+) HTTP/1')
#: What changes something in a registry.
SENDING = ("PATCH", "POST", "PUT")
#: A credential helper, as docker-credential-helpers specifies them.
HELPER = """\
#!/bin/sh
cat >/dev/null
echo '{{"ServerURL": "", "Username": "{user}", "Secret": "{password}"}}'
"""


@dataclass(frozen=True)
class Registry:
    """A running registry."""

    port: int
    log: Path

    def requests(self, *methods: str) -> list[tuple[str, str]]:
        """Return the requests with one of these methods, (method, path), since the last call."""
        time.sleep(0.2)  # The line of a request follows its answer.
        found = [(one["method"], one["path"]) for one in REQUEST.finditer(self.log.read_text(errors="replace"))]
        os.truncate(self.log, 0)
        assert found, "the log has no requests"
        return [(method, path) for method, path in found if method in methods]

    def sent(self) -> list[tuple[str, str]]:
        """Return the requests that change something, (method, path), since the last call."""
        return self.requests(*SENDING)


@contextmanager
def registry(scratch: Path) -> Iterator[Registry]:
    """Run a registry that asks for a password."""
    port = free_port()
    (scratch / "passwords").write_text(PASSWORDS)
    settings = {
        "version": 0.1,
        "auth": {"htpasswd": {"realm": "test", "path": str(scratch / "passwords")}},
        "http": {"addr": f"127.0.0.1:{port}", "secret": "test"},
        "storage": {"filesystem": {"rootdirectory": str(scratch / "storage")}},
    }
    (scratch / "settings.json").write_text(json.dumps(settings))
    with running("docker-registry", ("docker-registry", "serve", scratch / "settings.json"), port, scratch) as log:
        yield Registry(port, log)


def credentials(directory: Path, hosts: list[str], *, by_helper: bool) -> dict[str, str]:
    """Store a password as `docker login` does; return the variables that lead clients to it."""
    directory.mkdir()
    auth = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
    stored: dict[str, object] = {"auths": {host: {"auth": auth} for host in hosts}}
    if by_helper:
        stored = {"credHelpers": dict.fromkeys(hosts, "test")}
    (directory / "config.json").write_text(json.dumps(stored))
    helper = directory / "docker-credential-test"
    helper.write_text(HELPER.format(user=USER, password=PASSWORD))
    helper.chmod(0o755)
    return {"DOCKER_CONFIG": str(directory), "PATH": f"{directory}{os.pathsep}{os.environ['PATH']}"}


def run(*command: object, environment: Mapping[str, str], succeeds: bool = True) -> str:
    """Run a command to the end; return what it printed. Raises AssertionError if it ends otherwise than expected."""
    result = subprocess.run(
        [str(part) for part in command],
        env=os.environ | dict(environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert (result.returncode == 0) == succeeds, f"{command}: status {result.returncode}\n{result.stdout}"
    return result.stdout


def commands() -> str:
    """Return the commands of the page that push."""
    (block,) = (one for one in PAGE.read_text().split("```sh\n")[1:] if "--from-oci-layout" in one)
    return block.partition("```")[0]


def push(layout: Path, host: str, environment: Mapping[str, str], *, succeeds: bool = True) -> str:
    """Push the images of a layout as the page says."""
    script = commands()
    assert PAGES_LAYOUT in script, script
    assert PAGES_HOST in script, script
    script = script.replace(PAGES_LAYOUT, str(layout)).replace(PAGES_HOST, host)
    return run("sh", "-e", "-c", script, environment=environment, succeeds=succeeds)


def layout_of(image: LocalImage, directory: Path) -> Path:
    """Make a layout whose index has one image alone, and what refers to it."""
    shutil.copytree(image.directory, directory)
    index = json.loads((image.directory / "index.json").read_bytes())
    index["manifests"] = [one for one in index["manifests"] if one["digest"] in manifests(image)]
    (directory / "index.json").unlink()
    (directory / "index.json").write_text(json.dumps(index))
    return directory


def blobs(directory: Path) -> set[str]:
    """Return the names of a layout's blobs, their digests; none if there is no layout."""
    return {path.name for path in (directory / "blobs/sha256").glob("*")}


def manifests(image: LocalImage) -> dict[str, dict[str, Any]]:
    """Return the manifests of an image and of what refers to it, by digest."""
    folder = image.directory / "blobs"
    entries = json.loads((image.directory / "index.json").read_bytes())["manifests"]
    read = {one["digest"]: json.loads((folder / one["digest"].replace(":", "/")).read_bytes()) for one in entries}
    subjects = {digest: one.get("subject", {}).get("digest", digest) for digest, one in read.items()}
    return {digest: one for digest, one in read.items() if subjects[digest] == image.digest}


def contents(image: LocalImage) -> set[str]:
    """Return the names of an image's blobs that are not manifests: registries have these in another place."""
    parts = [part for one in manifests(image).values() for part in (one["config"], *one["layers"])]
    return {part["digest"].partition(":")[2] for part in parts}


def check_pulled(image: LocalImage, server: Registry, environment: Mapping[str, str], directory: Path) -> None:
    """Pull an image with what refers to it, beside what was pulled before, and compare all digests.

    crane computes them again.
    """
    reference = f"localhost:{server.port}/rocm:{image.tag}"
    before = blobs(directory)
    options = ("--recursive", "--to-oci-layout")
    run("oras", "cp", *options, reference, f"{directory}:{image.tag}", environment=environment)
    fetched = {path.rpartition(":")[2] for _, path in server.requests("GET") if "/blobs/" in path}
    assert fetched == contents(image) - before, sorted(fetched)
    assert blobs(directory) == contents(image) | {one.partition(":")[2] for one in manifests(image)} | before
    run("crane", "validate", "--insecure", "--remote", reference, environment=environment)
    attached = run("oras", "discover", reference, environment=environment)
    assert "application/vnd.cyclonedx+json" in attached, attached
    server.requests()  # crane and this have read, too


def check(images: list[LocalImage], scratch: Path) -> None:
    """Push two images, the first one twice, and pull them."""
    first, second = images[:2]
    one, two = layout_of(first, scratch / "one"), layout_of(second, scratch / "two")
    with registry(scratch) as server:
        # oras reaches no other host without TLS, unless it is told to.
        host = f"localhost:{server.port}"
        file = credentials(scratch / "file", [host], by_helper=False)
        helper = credentials(scratch / "helper", [host], by_helper=True)
        push(one, host, {"DOCKER_CONFIG": str(scratch)}, succeeds=False)
        assert not [path for method, path in server.sent() if method == "PUT"], "something was sent without a password"
        push(one, host, file)
        print(f"{first.tag}: {len(server.sent())} requests")
        push(one, host, helper)
        again = [path for _, path in server.sent() if "/blobs/" in path]
        assert not again, f"a second push sent something: {again}"
        push(two, host, helper)
        uploads = [path for method, path in server.sent() if method == "PUT" and "/blobs/" in path]
        own = contents(second) - contents(first)
        assert len(uploads) == len(own), f"{uploads}; expected {len(own)} blobs"
        print(f"{second.tag}: sent {len(uploads)} blobs, which {first.tag} has not")
        for image in (first, second):
            check_pulled(image, server, file, scratch / "pulled")
    print("all digests are equal")


def main() -> int:
    """Push and pull."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layout", type=Path, required=True, metavar="DIR", help="OCI image layout")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rocm-registry-") as scratch:
        check(read_images(arguments.layout.resolve()), Path(scratch))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
