"""A real S3 server on this machine: OpenStack Swift with its S3 API, from PyPI.

    with swift_server(programs, directory) as server:
        boto3.client("s3", endpoint_url=server.url, …)

Swift keeps objects for public clouds; its S3 API (`s3api`) checks signatures and SHA-256 sums, takes uploads in parts
and conditional writes. Here it runs with one of each of its servers and one copy of each object, below one directory.
"""

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.testing.servers import free_port, running

USER, KEY = "test:tester", "testing"
STORES = ("account", "container", "object")
CONF = """\
[swift-hash]
swift_hash_path_suffix = any
"""
STORE = """\
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = {port}
devices = {directory}/devices
mount_check = false
fallocate_reserve = 0
swift_dir = {directory}
user = root
workers = 0
[pipeline:main]
pipeline = {name}-server
[app:{name}-server]
use = egg:swift#{name}
"""
PROXY = """\
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = {port}
swift_dir = {directory}
user = root
workers = 0
[pipeline:main]
pipeline = catch_errors gatekeeper listing_formats s3api tempauth slo dlo proxy-server
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:gatekeeper]
use = egg:swift#gatekeeper
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:s3api]
use = egg:swift#s3api
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = {key} .admin
[filter:slo]
use = egg:swift#slo
[filter:dlo]
use = egg:swift#dlo
[app:proxy-server]
use = egg:swift#proxy
allow_account_management = true
account_autocreate = true
"""


@dataclass(frozen=True)
class Server:
    """A server that runs."""

    url: str
    access_key: str = USER
    secret_key: str = KEY


def _make_ring(programs: Path, directory: Path, name: str, port: int) -> None:
    """Say where the one store of a kind is; it has one copy of everything."""
    builder = directory / f"{name}.builder"
    for arguments in (["create", "4", "1", "1"], ["add", f"r1z1-127.0.0.1:{port}/disk", "1"], ["rebalance"]):
        subprocess.run([programs / "swift-ring-builder", builder, *arguments], check=True, capture_output=True)


@contextmanager
def swift_server(programs: Path, directory: Path) -> Iterator[Server]:
    """Run Swift below a directory, whose file system has to know extended attributes; `programs` has its programs."""
    (directory / "devices" / "disk").mkdir(parents=True)
    (directory / "swift.conf").write_text(CONF)
    ports = {name: free_port() for name in (*STORES, "proxy")}
    for name in STORES:
        _make_ring(programs, directory, name, ports[name])
        text = STORE.format(directory=directory, name=name, port=ports[name])
        (directory / f"{name}-server.conf").write_text(text)
    (directory / "proxy-server.conf").write_text(
        PROXY.format(directory=directory, key=KEY, port=ports["proxy"], s3api="")
    )
    with ExitStack() as stack:
        for name, port in ports.items():
            program, configuration = programs / f"swift-{name}-server", directory / f"{name}-server.conf"
            stack.enter_context(running(name, (programs / "python", program, configuration), port, directory))
        yield Server(f"http://127.0.0.1:{ports['proxy']}")
