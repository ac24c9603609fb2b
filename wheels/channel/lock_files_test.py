"""Lock files of a stream, and what a closed stream gets from one."""

import functools
import hashlib
import json
import threading
import tomllib
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from packaging.version import Version

from develop.testing.channel_sample import NOW, wheel, write
from lib.common.command import CannotRunError
from lib.common.program import ToolError
from wheels.channel.change import stream_pages
from wheels.channel.local_files import read_build, read_local
from wheels.channel.model import Channel, StreamState
from wheels.channel.plan import add, withdraw
from wheels.channel.sources import fetch_locked

SELECTOR = {
    "version": "1.0",
    "layout": "split",
    "targets": ["gfx942", "gfx1100"],
    "default_target": "gfx942",
    "packages": {
        "core": {"distribution": "acme-core", "tree": "_core"},
        "device": {"distribution": "acme-device-{target}", "tree": "_device"},
    },
}


def sdk(version: str) -> list[tuple[str, bytes]]:
    """Return an SDK with code for two GPUs."""
    gpus = ("gfx942", "gfx1100")
    lines = [
        line
        for gpu in gpus
        for line in (
            f"Provides-Extra: device-{gpu}",
            f'Requires-Dist: acme-device-{gpu}=={version}; extra == "device-{gpu}"',
        )
    ]
    selector = json.dumps(SELECTOR | {"version": version})
    return [
        wheel("acme-core", version),
        *(wheel(f"acme-device-{gpu}", version, f"Requires-Dist: acme-core=={version}") for gpu in gpus),
        wheel("acme", version, *lines, tag="py3-none-any", files={"acme/_distributions.json": selector}),
    ]


@pytest.mark.parametrize("older", [False, True])
def test_a_lock_has_the_newest_set_for_a_gpu_and_the_frameworks_that_go_with_it(tmp_path: Path, older: bool) -> None:
    channel = Channel(0, "Acme", 0, 0, "https://example.com/", {"nightly": StreamState()})
    old = [wheel("acme-core", "0.9"), wheel("torch", "2.1", "Requires-Dist: acme-core==0.9")]
    torch = "2.0" if older else "2.2"
    frameworks = [wheel("torch", torch, "Requires-Dist: acme-core==1.0"), wheel("other", "1.0", "Requires-Dist: numpy")]
    for number, files in enumerate((old, sdk("1.0"), frameworks)):
        local = read_local([write(tmp_path / str(number), files)])
        channel = add(channel, "nightly", local, NOW + number, older=older and number == 2).after
    page = stream_pages(channel, "nightly")["pylock.gfx942.toml"].decode()
    packages = tomllib.loads(page)["packages"]
    assert [(one["name"], one["version"]) for one in packages] == [
        ("acme", "1.0"),
        ("acme-core", "1.0"),
        ("acme-device-gfx942", "1.0"),
        ("torch", torch),
    ]
    (one,) = packages[1]["wheels"]
    file = channel.files[one["name"]]
    assert one["hashes"]["sha256"] == file.sha256
    assert one["url"] == f"https://example.com/{file.path}"


def test_after_a_withdrawal_the_lock_has_the_newest_that_is_offered(tmp_path: Path) -> None:
    channel = Channel(0, "Acme", 0, 0, "", {"nightly": StreamState()})
    for version in ("1.0", "1.1"):
        channel = add(channel, "nightly", read_local([write(tmp_path / version, sdk(version))]), NOW).after
    assert 'version = "1.1"' in stream_pages(channel, "nightly")["pylock.gfx942.toml"].decode()
    channel = withdraw(channel, "nightly", Version("1.1"), "hangs").after
    assert 'version = "1.0"' in stream_pages(channel, "nightly")["pylock.gfx942.toml"].decode()


def test_the_directory_above_several_builds_is_refused(tmp_path: Path) -> None:
    for version in ("1.0", "1.1"):
        write(tmp_path / version, sdk(version))
    with pytest.raises(CannotRunError, match=r"has the versions 1\.0, 1\.1 of an SDK; expected one build"):
        read_build([tmp_path], ())


def test_a_damaged_wheel_is_not_added(tmp_path: Path) -> None:
    """Pip and uv refuse it, after they have found it in the index."""
    name, data = wheel("acme-core", "1.0")
    place = write(tmp_path, [(name, data.replace(b"version = '1.0'", b"version = '1.1'"))])
    with pytest.raises(ToolError, match=r"this wheel is damaged or not to be trusted") as caught:
        read_local([place])
    assert "--rewrite-record" not in str(caught.value)
    (tmp_path / name).unlink()
    write(tmp_path, [(name.replace("x86_64", "aarch64"), data)])
    with pytest.raises(ToolError, match=r"aarch64\.whl: .*Name the file by the tags in WHEEL"):
        read_local([place])


@pytest.fixture(name="served")
def _served(tmp_path: Path) -> Iterator[str]:
    """Serve the directory of the test."""
    handler = functools.partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()


def test_what_a_lock_file_names_is_fetched_by_hash(tmp_path: Path, served: str) -> None:
    name, data = wheel("numpy", "2.0")
    write(tmp_path, [(name, data)])
    lock, folder = tmp_path / "pylock.toml", tmp_path / "fetched"
    folder.mkdir()
    other = 'wheels = [{url = "http://127.0.0.1:1/numpy-2.0-py3-none-win32.whl", hashes = {sha256 = ""}}, {'
    text = f'[[packages]]\nname = "numpy"\n{other}url = "{served}/{name}", hashes = {{sha256 = "{{}}"}}}}]\n'
    lock.write_text(text.replace("{}", hashlib.sha256(data).hexdigest()))
    assert [path.name for path in fetch_locked(lock, folder)] == [name]
    assert (folder / name).read_bytes() == data
    lock.write_text(text.replace("{}", "0" * 64))
    with pytest.raises(ToolError, match=r"has another SHA-256 than .* says"):
        list(fetch_locked(lock, folder))
    lock.write_text("numpy==2.0\n")
    with pytest.raises(CannotRunError, match="is not a lock file with URLs and SHA-256"):
        list(fetch_locked(lock, folder))


@pytest.mark.parametrize("kind", ["wheels", "sdist"])
@pytest.mark.parametrize("folder", ["../", "/", "a/"])
def test_a_lock_file_names_no_file_outside_of_the_folder(tmp_path: Path, served: str, kind: str, folder: str) -> None:
    name, data = wheel("numpy", "2.0")
    write(tmp_path, [(name, data)])
    given = f"{tmp_path}/out-{name}" if folder == "/" else f"{folder}out-{name}"
    one = f'{{name = "{given}", url = "{served}/{name}", hashes = {{sha256 = "{hashlib.sha256(data).hexdigest()}"}}}}'
    lock, fetched = tmp_path / "pylock.toml", tmp_path / "fetched"
    fetched.mkdir()
    lock.write_text(f'[[packages]]\nname = "numpy"\n{kind} = {f"[{one}]" if kind == "wheels" else one}\n')
    with pytest.raises(ToolError) as caught:
        list(fetch_locked(lock, fetched))
    assert str(caught.value).startswith(f"{lock}: numpy: has a file {given!r}; expected a name without a directory")
    assert not (tmp_path / f"out-{name}").exists()


def test_a_url_gives_no_name_outside_of_the_folder(tmp_path: Path) -> None:
    lock = tmp_path / "pylock.toml"
    lock.write_text('[[packages]]\nname = "numpy"\nsdist = {url = "https://example.com/..", hashes = {sha256 = ""}}\n')
    with pytest.raises(ToolError, match=r"numpy: has a file '\.\.'"):
        list(fetch_locked(lock, tmp_path))
