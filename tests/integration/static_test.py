"""The static wheel of `rocm`, which serves where no sdist can be run, installed by pip and uv from its own index."""

import functools
import http.server
import threading
from collections.abc import Iterator
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from zipfile import ZipFile

import pytest
from environment import DIST, Environment

INSTALLERS = ["pip", "uv"]
#: Extras that ask something about the machine, by layout: the sdist alone has them.
ASKING = {"split": {"device"}, "family": {"libraries"}}


@pytest.fixture(scope="module")
def index() -> Iterator[str]:
    """Serve the directory of the distributions over HTTP; the URL of the index with the static wheel."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Say nothing."""

    handler = functools.partial(Handler, directory=str(DIST))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/static/simple/"
        server.shutdown()


def install(environment: Environment, installer: str, index: str, requirement: str) -> None:
    """Install wheels only, from that index only."""
    if installer == "pip":
        environment.pip("install", f"--index-url={index}", "--only-binary=:all:", requirement)
    else:
        environment.uv("pip", "install", f"--default-index={index}", "--no-build", requirement)


def wheel_metadata() -> Message:
    """Return the metadata of the static wheel."""
    (wheel,) = (DIST / "static").glob("rocm-*.whl")
    with ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        return message_from_bytes(archive.read(name))


VERSION = str(wheel_metadata()["Version"])


def names_required(extras: set[str]) -> set[str]:
    """Return what the static wheel with these extras brings, itself included, as dist-info directories are named."""
    markers = [f'; extra == "{extra}"' for extra in extras]
    required = [line for line in wheel_metadata().get_all("Requires-Dist", []) if line.endswith((*markers, VERSION))]
    return {"rocm", *(line.partition("==")[0].replace("-", "_") for line in required)}


@pytest.mark.parametrize("installer", INSTALLERS)
def test_each_extra_brings_its_packages(tmp_path: Path, installer: str, index: str) -> None:
    environment = Environment(tmp_path / "environment")
    extras = set(wheel_metadata().get_all("Provides-Extra", []))
    install(environment, installer, index, "rocm")
    assert environment.distributions() == {"rocm", "rocm_sdk_core"}
    assert environment.run("rocm-sdk", "version").strip() == VERSION
    assert not list(environment.site_packages.glob("rocm_sdk/_selected.json")), "nothing was selected"
    wanted: set[str] = set()
    for extra in sorted(extras):
        wanted.add(extra)
        install(environment, installer, index, f"rocm[{extra}]")
        assert environment.distributions() == names_required(wanted)
    assert ", 0 failed" in environment.run("rocm-sdk", "test").splitlines()[-1]


@pytest.mark.parametrize("installer", INSTALLERS)
def test_uninstalling_leaves_nothing(tmp_path: Path, installer: str, index: str) -> None:
    environment = Environment(tmp_path / "environment")
    before = environment.files()
    extras = ",".join(wheel_metadata().get_all("Provides-Extra", []))
    install(environment, installer, index, f"rocm[{extras}]")
    environment.run("rocm-sdk", "init", "--quiet")
    uninstall = ["uninstall", *sorted(environment.distributions())]
    if installer == "pip":
        environment.pip(*uninstall, "--yes")
    else:
        environment.uv("pip", *uninstall)
    assert environment.files() == before


def test_extras_are_those_of_the_sdist_but_for_those_that_ask(tmp_path: Path) -> None:
    environment = Environment(tmp_path / "environment")
    environment.install("rocm")
    (path,) = environment.site_packages.glob("rocm-*.dist-info/METADATA")
    selector, static = message_from_bytes(path.read_bytes()), wheel_metadata()
    extras = set(selector.get_all("Provides-Extra", []))
    layout = "split" if "device" in extras else "family"
    assert set(static.get_all("Provides-Extra", [])) == extras - ASKING[layout]
    asking = tuple(f'extra == "{extra}"' for extra in ASKING[layout])
    wanted = [value for value in selector.get_all("Requires-Dist", []) if not value.endswith(asking)]
    assert sorted(static.get_all("Requires-Dist", [])) == sorted(wanted)


def test_the_same_code_is_in_both(tmp_path: Path) -> None:
    """The wheel holds what installing the sdist gives, except the choice that the latter made."""
    environment = Environment(tmp_path / "environment")
    environment.install("rocm")
    installed = {
        path.relative_to(environment.site_packages) for path in environment.site_packages.glob("rocm_sdk/**/*")
    }
    code = {str(path) for path in installed if path.suffix not in ("", ".pyc")}
    (wheel,) = (DIST / "static").glob("rocm-*.whl")
    with ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if name.startswith("rocm_sdk/")}
        for name in packed:
            assert archive.read(name) == (environment.site_packages / name).read_bytes(), name
    assert code - packed == {"rocm_sdk/_selected.json"}
    assert packed <= code
