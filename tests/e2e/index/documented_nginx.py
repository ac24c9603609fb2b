"""nginx in front of an index, with the very configuration that docs/release/package-index.md shows."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.e2e.testing.builds import WORKSPACE
from tests.e2e.testing.nginx import LISTEN, Server, nginx

DOCUMENT = WORKSPACE / "docs/release/package-index.md"
#: What the document's configuration has instead of this test's.
ROOT = "root /srv/packages;"
PLAIN = f"server {{ {LISTEN} {ROOT} index index.html; types {{ text/html html; }} }}"


def configuration(document: str) -> str:
    """Return the configuration that a Markdown document shows."""
    blocks = re.findall(r"^```nginx\n(.*?)^```$", document, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 1, f"{DOCUMENT}: {len(blocks)} blocks of nginx; expected one"
    assert LISTEN in blocks[0], f"{DOCUMENT}: lacks {LISTEN!r}"
    assert ROOT in blocks[0], f"{DOCUMENT}: lacks {ROOT!r}"
    return str(blocks[0])


@contextmanager
def index_server(root: Path, scratch: Path, *, negotiates: bool) -> Iterator[Server]:
    """Serve a directory; without `negotiates` as any server would, HTML for everybody."""
    text = configuration(DOCUMENT.read_text(encoding="utf-8")) if negotiates else PLAIN
    with nginx(text.replace(ROOT, f"root {root};"), scratch) as server:
        yield server
