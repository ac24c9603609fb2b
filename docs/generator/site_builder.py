"""Makes the documentation's site from the pages of the repository, with MkDocs.

    site_builder.py --import-root DIR… --config mkdocs.yml --route docs/README.md --page PATH=FILE… --output DIR

Pages keep their paths, so that their links stay right. The route is the page that sends each reader to the right
pages: its sections are the navigation, so there is no second list. The site has no sources: a link to a file that is
no page becomes the file's path. MkDocs checks all other links and their anchors.
"""

import argparse
import logging
import posixpath
import re
import shutil
import sys
import tempfile
from collections.abc import Collection
from pathlib import Path
from typing import Any, Final

LINK: Final = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s#:]+)(#[^)\s]*)?\)")
#: Pages that no section of the route has: the door, and what changed.
FIRST: Final = "README.md"
LAST: Final = ("CHANGELOG.md", "CONTRIBUTING.md")


def navigation(route: str, text: str, pages: Collection[str]) -> list[Any]:
    """Return MkDocs' `nav`: the door, the route, its sections with the pages that they link to, and the rest."""
    nav: list[Any] = [FIRST, route]
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        title, _, body = section.partition("\n")
        targets = [posixpath.normpath(posixpath.join(posixpath.dirname(route), one[1])) for one in LINK.findall(body)]
        nav.append({title.strip(): [target for target in dict.fromkeys(targets) if target in pages]})
    return [*nav, *(page for page in LAST if page in pages)]


def without_sources(page: str, text: str, pages: Collection[str]) -> str:
    """Return a page's text in which links to files that are no pages are these files' paths."""

    def replaced(match: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), match[2]))
        if path in pages:
            return match[0]
        title = match[1].strip("`")
        return f"`{path}`" if path.endswith(title) else f"{match[1]} (`{path}`)"

    return LINK.sub(replaced, text)


def stage(files: dict[str, str], directory: Path) -> None:
    """Lay pages, pictures and style sheets out as in the repository."""
    for path, file in sorted(files.items()):
        target = directory / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.endswith(".md"):
            text = Path(file).read_text(encoding="utf-8")
            target.write_text(without_sources(path, text, files), encoding="utf-8")
        else:
            shutil.copyfile(file, target)


def build(config: Path, files: dict[str, str], route: str, output: Path) -> int:
    """Make the site; returns 1 if a link or an anchor leads nowhere, and MkDocs has said which."""
    from mkdocs.commands import build as mkdocs_build
    from mkdocs.config import load_config
    from mkdocs.exceptions import Abort

    logging.basicConfig(format="%(levelname)s: %(message)s", level=logging.WARNING)
    pages = [path for path in files if path.endswith(".md")]
    with tempfile.TemporaryDirectory(prefix="site-", dir=output.parent) as scratch:
        stage(files, Path(scratch))
        nav = navigation(route, Path(files[route]).read_text(encoding="utf-8"), pages)
        given = {"docs_dir": scratch, "site_dir": str(output.absolute()), "nav": nav, "strict": True}
        try:
            mkdocs_build.build(load_config(str(config), **given))
        except Abort as error:
            print(f"ERROR: {error}", file=sys.stderr)
            return 1
    return 0


def main(argv: list[str]) -> int:
    """Read the arguments, and make the site."""
    parser = argparse.ArgumentParser(description=__doc__, fromfile_prefix_chars="@")
    parser.add_argument("--import-root", action="append", default=[], help="directory that MkDocs is imported from")
    parser.add_argument("--config", type=Path, required=True, help="MkDocs' configuration, without pages")
    parser.add_argument("--route", required=True, help="path of the page whose sections are the navigation")
    parser.add_argument("--page", action="append", default=[], metavar="PATH=FILE", help="a file of the site")
    parser.add_argument("--output", type=Path, required=True, help="directory to write")
    arguments = parser.parse_args(argv)
    sys.path[:0] = [str(Path(root).absolute()) for root in arguments.import_root]
    files = dict(page.split("=", 1) for page in arguments.page)
    return build(arguments.config, files, arguments.route, arguments.output)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
