"""nginx as Bazel's HTTP cache: a blob is a file, stored by PUT under its key.

The protocol is Bazel's "HTTP caching protocol": `/ac/SHA256` for results of actions, `/cas/SHA256` for contents.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.e2e.testing.nginx import LISTEN, Server, nginx

#: A PUT goes to a temporary file on the same file system and is renamed: nobody reads half of it.
BLOCK = """\
server {
    LISTEN
    root STORE;
    default_type application/octet-stream;
    location ~ "^/(ac|cas)/[0-9a-f]+$" {
        dav_methods PUT;
        create_full_put_path on;
    }
    location / { return 404; }
}
"""


@contextmanager
def http_cache(directory: Path) -> Iterator[Server]:
    """Run a cache that is empty at first; it keeps its blobs in `directory/store`."""
    directory.mkdir()
    store = directory / "store"
    store.mkdir()
    with nginx(BLOCK.replace("LISTEN", LISTEN).replace("STORE", str(store)), directory / "nginx") as server:
        yield server
