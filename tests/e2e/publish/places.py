"""Publishing, for real: into a directory, to an S3 server (OpenStack Swift) and to a package index (pypiserver).

    python3 -m tests.e2e.publish.places --dist DIR

Run it from the top of the workspace. DIR is what `//packaging:dist` or `//tests/mini/split:dist` has. Both servers come
from PyPI, as requirements.txt locks them, and run on this machine only. Of all places it is shown that they hold what
was built; that a second run sends nothing; that nothing published is replaced; that an interrupted run shows nothing
half-written, and the next one does the rest.
"""

import argparse
import base64
import hashlib
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.e2e.publish.locked_programs import in_environment, pip_install
from tests.e2e.publish.publisher import Publisher, check_conflict, check_halfway, tree
from tests.e2e.testing.servers import free_port, running

USER, PASSWORD = "publisher", "correct horse"


def check_directory(publisher: Publisher, scratch: Path) -> None:
    """Publish into a directory, and install from it with pip."""
    content = tree(publisher.dist)
    place = scratch / "place"
    arguments = (f"--to={place}", "--run-id=21440027240", "--group=gfx110X-all")
    run = place / "21440027240-linux" / "python" / "gfx110X-all"
    for line in (1, len(content) // 2):
        publisher.kill_after(line, *arguments)
        check_halfway(tree(run), content)
    publisher.run(*arguments)
    assert tree(run) == content
    assert not list(place.rglob(".*")), "what killed runs left lies about"
    assert f"0 files and 0 pages (0 bytes); {len(content)} were there" in publisher.run(*arguments)
    check_conflict(publisher, scratch, *arguments)
    assert tree(run) == content
    target = scratch / "installed"
    options = ("--no-deps", "--no-index", f"--find-links={run}/find-links.html", f"--target={target}")
    pip_install(publisher.programs / "python", *options, "rocm-sdk-core")
    assert (target / "rocm_sdk_core" / "__init__.py").is_file()


@contextmanager
def pypiserver(programs: Path, scratch: Path, authenticate: str) -> Iterator[tuple[tuple[str, ...], str, Path]]:
    """Run pypiserver, which asks for a password to `authenticate`; yield the options for it, its URL, and its files."""
    packages, passwords = scratch / "packages", scratch / "passwords"
    packages.mkdir()
    # SHA-1 in the form of Apache's htpasswd: what passlib reads without further libraries.
    digest = base64.b64encode(hashlib.sha1(PASSWORD.encode()).digest()).decode()
    passwords.write_text(f"{USER}:{{SHA}}{digest}\n")
    port = free_port()
    server = (programs / "pypi-server", "run", "--interface=127.0.0.1", f"--port={port}", "--disable-fallback")
    options = ("--hash-algo=sha256", f"--passwords={passwords}", f"--authenticate={authenticate}", packages)
    url = f"http://127.0.0.1:{port}"
    with running("pypiserver", (*server, *options), port, scratch):
        yield ("--to=index", f"--upload-url={url}/", f"--index-url={url}/simple/"), url, packages


def uploaded(publisher: Publisher) -> dict[str, bytes]:
    """Return what is uploaded to an index: distributions, except those in static/."""
    content = {path: data for path, data in tree(publisher.dist).items() if path.endswith((".whl", ".tar.gz"))}
    expected = {path: data for path, data in content.items() if "/" not in path}
    assert len(expected) < len(content), "static/ is missing, so that this would not show that it is left out"
    return expected


def check_package_index(publisher: Publisher, scratch: Path) -> None:
    """Upload to pypiserver, which asks for a password, and install from it."""
    expected = uploaded(publisher)
    with pypiserver(publisher.programs, scratch, "update") as (place, url, packages):
        output = publisher.with_environment(UV_PUBLISH_USERNAME=USER, UV_PUBLISH_PASSWORD="wrong").run(*place, status=2)
        assert "uv says:" in output, output
        assert "wrong" not in output, "the password was printed"
        assert not tree(packages)
        publisher = publisher.with_environment(UV_PUBLISH_USERNAME=USER, UV_PUBLISH_PASSWORD=PASSWORD)
        publisher.kill_after(2, *place)
        assert 0 < len(tree(packages)) < len(expected)
        publisher.run(*place)
        assert tree(packages) == expected
        assert f"0 files and 0 pages (0 bytes); {len(expected)} were there" in publisher.run(*place)
        check_conflict(publisher, scratch, *place)
        assert tree(packages) == expected
        target = scratch / "installed from index"
        options = ("--no-deps", "--pre", f"--index-url={url}/simple/", f"--target={target}")
        pip_install(publisher.programs / "python", *options, "rocm-sdk-core")
        assert (target / "rocm_sdk_core" / "__init__.py").is_file()


def check_private_index(publisher: Publisher, scratch: Path) -> None:
    """Upload to a pypiserver that does not even tell what it has without a password."""
    expected = uploaded(publisher)
    with pypiserver(publisher.programs, scratch, "list,download,update") as (place, _, packages):
        output = publisher.run(*place, "--dry-run", status=2)
        assert "status 401; expected to be let in, with UV_PUBLISH_TOKEN" in output, output
        publisher = publisher.with_environment(UV_PUBLISH_USERNAME=USER, UV_PUBLISH_PASSWORD=PASSWORD)
        assert f"would send {len(expected)} files" in publisher.run(*place, "--dry-run")
        assert not tree(packages)
        publisher.run(*place)
        assert tree(packages) == expected
        assert f"0 files and 0 pages (0 bytes); {len(expected)} were there" in publisher.run(*place)
        check_conflict(publisher, scratch, *place)
        assert tree(packages) == expected


def main() -> int:
    """Check all kinds of places."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dist", type=Path, required=True, help="directory of distributions with its index")
    parser.add_argument(
        "--programs", type=Path, help="where what requirements.txt locks is installed (default: nowhere yet)"
    )
    arguments = parser.parse_args()
    if not arguments.programs:
        return in_environment("tests.e2e.publish.places", sys.argv[1:])
    from tests.e2e.publish.s3 import check_s3  # It needs what has just been installed.

    publisher = Publisher(arguments.programs, arguments.dist.resolve())
    checks = {
        "directory": check_directory,
        "package index": check_package_index,
        "private package index": check_private_index,
        "S3": check_s3,
    }
    for title, check in checks.items():
        with tempfile.TemporaryDirectory(prefix="rocm-publish-") as scratch:
            start = time.monotonic()
            check(publisher, Path(scratch))
            print(f"{title}: published, repeated, interrupted, refused ({time.monotonic() - start:.0f} s)", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
