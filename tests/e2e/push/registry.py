"""Pushes images to a real registry (Debian's docker-registry) as docs/release/images.md says, and pulls them again.

    python3 -m tests.e2e.push.registry --layout DIR

Run it from the top of the workspace, where both programs and crane are on PATH. DIR is an OCI image layout with several
images. All that arrives has equal digests, also the bills of materials, and crane finds nothing wrong.
"""

import argparse
import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.e2e.testing.commands import run
from tests.e2e.testing.images import LocalImage, read_images
from tests.e2e.testing.servers import free_port, running

#: The page with the commands that push.
PAGE = Path("docs/release/images.md")
#: What the page calls the layout and the registry.
PAGES_LAYOUT, PAGES_HOST = "bazel-bin/packaging/images", "registry.example.com"


@contextmanager
def registry(scratch: Path) -> Iterator[str]:
    """Run a registry; yield its host and port."""
    port = free_port()
    settings = {
        "version": 0.1,
        "http": {"addr": f"127.0.0.1:{port}", "secret": "test"},
        "storage": {"filesystem": {"rootdirectory": str(scratch / "storage")}},
    }
    (scratch / "settings.json").write_text(json.dumps(settings))
    with running("docker-registry", ("docker-registry", "serve", scratch / "settings.json"), port, scratch):
        # oras reaches no other host without TLS, unless it is told to.
        yield f"localhost:{port}"


def commands() -> str:
    """Return the commands of the page that push."""
    (block,) = (one for one in PAGE.read_text().split("```sh\n")[1:] if "--from-oci-layout" in one)
    return block.partition("```")[0]


def push(layout: Path, host: str) -> None:
    """Push the images of a layout as the page says."""
    script = commands()
    assert PAGES_LAYOUT in script, script
    assert PAGES_HOST in script, script
    run("sh", "-e", "-c", script.replace(PAGES_LAYOUT, str(layout)).replace(PAGES_HOST, host))


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


def check_pulled(image: LocalImage, host: str, directory: Path) -> None:
    """Pull an image with what refers to it, beside what was pulled before, and compare all digests.

    crane computes them again.
    """
    reference = f"{host}/rocm:{image.tag}"
    before = blobs(directory)
    run("oras", "cp", "--recursive", "--to-oci-layout", reference, f"{directory}:{image.tag}")
    assert blobs(directory) == contents(image) | {one.partition(":")[2] for one in manifests(image)} | before
    run("crane", "validate", "--insecure", "--remote", reference)
    attached = run("oras", "discover", reference)
    assert "application/vnd.cyclonedx+json" in attached, attached


def check(layout: Path, scratch: Path) -> None:
    """Push a layout, and pull its images."""
    with registry(scratch) as host:
        push(layout, host)
        images = read_images(layout)
        for image in images:
            check_pulled(image, host, scratch / "pulled")
    assert len(images) > 1, images
    print(f"{len(images)} images: all digests are equal")


def main() -> int:
    """Push and pull."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layout", type=Path, required=True, metavar="DIR", help="OCI image layout")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rocm-registry-") as scratch:
        check(arguments.layout.resolve(), Path(scratch))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
