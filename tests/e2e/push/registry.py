"""Makes an image of layers in a real registry (Debian's docker-registry), by crane, as docs/release/images.md says.

    python3 -m tests.e2e.push.registry LAYER...

Run it from the top of the workspace, where both programs are on PATH. The layers arrive with the bytes that they have.
"""

import argparse
import hashlib
import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.e2e.testing.commands import run
from tests.e2e.testing.servers import free_port, running

#: The page with the command, and what it calls the registry, its base and the layers.
PAGE = Path("docs/release/images.md")
HOST, BASE, LAYERS = "registry.example.com", "--base=registry.example.com/base", "$layers"


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
        yield f"localhost:{port}"


def command(layers: Sequence[Path], host: str) -> str:
    """Return the command of the page, for these layers on an empty base."""
    (line,) = (line for line in PAGE.read_text().splitlines() if line.startswith("crane append "))
    for part in (HOST, BASE, LAYERS):
        assert part in line, line
    line = line.replace(BASE, "--oci-empty-base").replace(HOST, host)
    return line.replace(LAYERS, " ".join(f"--new_layer={layer}" for layer in layers))


def check(layers: Sequence[Path], scratch: Path) -> None:
    """Make an image, and compare its layers."""
    with registry(scratch) as host:
        run("sh", "-e", "-c", command(layers, host))
        manifest = json.loads(run("crane", "manifest", "--insecure", f"{host}/rocm:gfx942"))
        run("crane", "validate", "--insecure", "--remote", f"{host}/rocm:gfx942")
    found = [layer["digest"] for layer in manifest["layers"]]
    assert found == [f"sha256:{hashlib.sha256(layer.read_bytes()).hexdigest()}" for layer in layers], manifest
    print(f"{len(layers)} layers: all digests are equal")


def main() -> int:
    """Push and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("layers", type=Path, nargs="+", metavar="LAYER", help="layer, the lowest first")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="rocm-registry-") as scratch:
        check([layer.resolve() for layer in arguments.layers], Path(scratch))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
