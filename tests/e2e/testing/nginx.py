"""nginx on loopback: the program, what it serves, and what its log says of those who ask.

    put_nginx_on_path(directory)
    with nginx(f"server {{ {LISTEN} root /srv/files; }}", scratch) as server:
        …
    server.requests()

It keeps its files in `scratch`, and ends with the block.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.testing.servers import free_port, running

#: The directive that the server's port takes the place of.
LISTEN = "listen 80;"
FRAME = """\
daemon off;
{user}
worker_processes 1;
pid {scratch}/pid;
error_log {scratch}/error.log;
events {{}}
http {{
    client_body_temp_path {scratch}/body;
    proxy_temp_path {scratch}/proxy;
    fastcgi_temp_path {scratch}/fastcgi;
    uwsgi_temp_path {scratch}/uwsgi;
    scgi_temp_path {scratch}/scgi;
    client_max_body_size 0;
    keepalive_requests 100000;
    log_format asked escape=json '{{"method": "$request_method", "path": "$request_uri", "status": "$status", '
        '"accept": "$http_accept", "range": "$http_range", "type": "$sent_http_content_type", "sent": $bytes_sent}}';
    access_log {scratch}/access.log asked;
    {blocks}
}}
"""


@dataclass(frozen=True)
class Request:
    """One line of the log."""

    method: str
    path: str
    status: str
    accept: str
    #: The header of that name: what part of a file is wanted.
    range: str
    #: Content type of the answer.
    type: str
    #: Size of the answer in bytes, headers and all.
    sent: int

    @property
    def filename(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]


@dataclass(frozen=True)
class Server:
    """A running nginx."""

    #: The URL of the directory, with a slash at its end.
    url: str
    log: Path

    def requests(self) -> list[Request]:
        """Return all requests since the last call."""
        found = [Request(**json.loads(line)) for line in self.log.read_text(encoding="utf-8").splitlines()]
        self.log.write_text("")
        return found


def put_nginx_on_path(directory: Path) -> None:
    """Find nginx on PATH, or else unpack Debian's package into a directory, without installing it, and add that."""
    system = f"{os.environ['PATH']}:/usr/sbin"
    if not shutil.which("nginx", path=system):
        directory.mkdir()
        directory.chmod(0o777)  # apt fetches as a user of its own
        subprocess.run(["apt-get", "download", "--quiet", "nginx"], cwd=directory, check=True, capture_output=True)
        (package,) = directory.glob("nginx_*.deb")
        subprocess.run(["dpkg-deb", "--extract", package, directory], check=True)
        system += f":{directory}/usr/sbin"
    os.environ["PATH"] = system


@contextmanager
def nginx(blocks: str, scratch: Path) -> Iterator[Server]:
    """Run nginx with blocks of its context `http`, in which LISTEN stands for a free port's directive."""
    scratch.mkdir()
    port = free_port()
    # Where the master is root, its worker would be another user, who may not get at what is served.
    user = "user root;" if os.getuid() == 0 else ""
    settings = scratch / "nginx.conf"
    blocks = blocks.replace(LISTEN, f"listen 127.0.0.1:{port};")
    settings.write_text(FRAME.format(user=user, scratch=scratch, blocks=blocks), encoding="utf-8")
    command = ("nginx", "-p", scratch, "-c", settings, "-e", scratch / "error.log")
    with running("nginx", command, port, scratch):
        yield Server(f"http://127.0.0.1:{port}/", scratch / "access.log")
