"""Lays distributions into a directory with a package index (PEP 503), a SHA-256 in every link.

    index --label TARGET --requires-python SPEC --output DIR
          (--distribution FILE --metadata FILE --digest FILE)… [--static FILE…]

`index.html` is a flat page for `--find-links`; `simple/` is the simple repository API,
a page per project. Beside each distribution lies its core metadata (PEP 658, PEP 714),
which installers read instead of the whole file. The distributions themselves are not
read: their digests were taken when they were written.

Distributions named `--static` as well lie in `static/` with such pages of their own. These
list all other projects, too, so that one index serves; but the main pages do not list what
is static: installers prefer a wheel to an sdist of the same version.
"""

import argparse
import hashlib
import html
import os
import posixpath
import shutil
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import parse_sdist_filename, parse_wheel_filename

from tools.common.documents import read_document
from tools.common.program import argument_parser, report_errors

#: Directory of the distributions that have an index of their own.
STATIC = "static"
PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="pypi:repository-version" content="1.1">
<title>{title}</title>
</head>
<body>
{body}</body>
</html>
"""


@dataclass(frozen=True)
class Distribution:
    """One file of the index, with the digests that its link carries, in hex."""

    filename: str
    sha256: str
    metadata_sha256: str
    #: Where it lies below the index: "" or STATIC.
    directory: str = ""

    @property
    def project(self) -> str:
        """The project's normalised name (PEP 503)."""
        parse = parse_wheel_filename if self.filename.endswith(".whl") else parse_sdist_filename
        return str(parse(self.filename)[0])

    def anchor(self, page: str, requires_python: str) -> str:
        """Return the link to the file from a page in the directory `page`, relative to the index."""
        path = posixpath.relpath(posixpath.join(self.directory, self.filename), page or ".")
        attributes = {
            "href": f"{path}#sha256={self.sha256}",
            "data-requires-python": requires_python,
        }
        if self.filename.endswith(".whl"):  # Of an sdist, some fields are only known when it is built.
            attributes["data-core-metadata"] = f"sha256={self.metadata_sha256}"
        text = " ".join(f'{name}="{html.escape(value)}"' for name, value in attributes.items())
        return f"<a {text}>{html.escape(self.filename)}</a><br>\n"


def place(source: str, target: Path) -> None:
    """Hard-links a file, or copies it where that cannot be."""
    try:
        os.link(os.path.realpath(source), target)
    except OSError:
        shutil.copyfile(source, target)


def write_page(path: Path, title: str, body: str) -> None:
    """Write one page, and the directories above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(PAGE.format(title=html.escape(title), body=body), encoding="utf-8")


def write_pages(output: Path, directory: str, distributions: list[Distribution], requires_python: str) -> None:
    """Write the flat page and those of the simple repository API into a directory of the index."""
    ordered = sorted(distributions, key=lambda distribution: distribution.filename)
    flat = "".join(distribution.anchor(directory, requires_python) for distribution in ordered)
    write_page(output / directory / "index.html", "Links", flat)
    projects = sorted({distribution.project for distribution in ordered})
    rows = "".join(f'<a href="{name}/">{name}</a><br>\n' for name in projects)
    simple = posixpath.join(directory, "simple")
    write_page(output / simple / "index.html", "Simple index", rows)
    for name in projects:
        page = posixpath.join(simple, name)
        own = [distribution.anchor(page, requires_python) for distribution in ordered if distribution.project == name]
        write_page(output / page / "index.html", f"Links for {name}", "".join(own))


def write(args: argparse.Namespace) -> None:
    """Fill the directory."""
    output = Path(args.output)
    distributions = []
    for path, metadata, digest in zip(args.distribution, args.metadata, args.digest, strict=True):
        document = read_document(digest)
        filename = document["filename"]
        directory = STATIC if path in args.static else ""
        (output / directory).mkdir(parents=True, exist_ok=True)
        place(path, output / directory / filename)
        content = Path(metadata).read_bytes()
        if filename.endswith(".whl"):
            (output / directory / f"{filename}.metadata").write_bytes(content)
        distributions.append(Distribution(filename, document["sha256"], hashlib.sha256(content).hexdigest(), directory))
    main_index = [one for one in distributions if not one.directory]
    write_pages(output, "", main_index, args.requires_python)
    if static := [one for one in distributions if one.directory]:
        projects = {one.project for one in static}
        others = [one for one in main_index if one.project not in projects]
        write_pages(output, STATIC, static + others, args.requires_python)


def main(argv: list[str]) -> int:
    """Parse the arguments and fills the directory."""
    parser = argument_parser(__doc__)
    parser.add_argument("--label", required=True, help="Bazel target, named in errors")
    parser.add_argument("--distribution", action="append", default=[], help="a wheel or sdist")
    parser.add_argument(
        "--metadata", action="append", default=[], help="its core metadata, in the order of the distributions"
    )
    parser.add_argument("--digest", action="append", default=[], help="JSON file: its filename, size and sha256")
    parser.add_argument(
        "--static", action="append", default=[], metavar="FILE", help="a distribution that gets an index of its own"
    )
    parser.add_argument("--requires-python", required=True, help="version specifier that every link carries")
    parser.add_argument("--output", required=True, help="directory to fill")
    args = parser.parse_args(argv)
    return report_errors(args.label, lambda: write(args))
