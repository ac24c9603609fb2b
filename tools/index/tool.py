"""Lays distributions into a directory with a package index (PEP 503), a SHA-256 in every link.

    index --label TARGET --requires-python SPEC --output DIR
          (--distribution FILE --metadata FILE --digest FILE)…

`index.html` is a flat page for `--find-links`; `simple/` is the simple repository API,
a page per project. Beside each distribution lies its core metadata (PEP 658, PEP 714),
which installers read instead of the whole file. The distributions themselves are not
read: their digests were taken when they were written.
"""

import argparse
import hashlib
import html
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import parse_sdist_filename, parse_wheel_filename

from tools.common.documents import read_document
from tools.common.program import argument_parser, report_errors

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

    @property
    def project(self) -> str:
        """The project's normalised name (PEP 503)."""
        parse = parse_wheel_filename if self.filename.endswith(".whl") else parse_sdist_filename
        return str(parse(self.filename)[0])

    def anchor(self, directory: str, requires_python: str) -> str:
        """Return the link to the file, from a page for which the files lie in `directory`."""
        attributes = {
            "href": f"{directory}{self.filename}#sha256={self.sha256}",
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


def write_pages(output: Path, distributions: list[Distribution], requires_python: str) -> None:
    """Write the flat page and those of the simple repository API."""
    ordered = sorted(distributions, key=lambda distribution: distribution.filename)
    flat = "".join(distribution.anchor("", requires_python) for distribution in ordered)
    write_page(output / "index.html", "Links", flat)
    projects = sorted({distribution.project for distribution in ordered})
    rows = "".join(f'<a href="{name}/">{name}</a><br>\n' for name in projects)
    write_page(output / "simple/index.html", "Simple index", rows)
    for name in projects:
        own = [
            distribution.anchor("../../", requires_python) for distribution in ordered if distribution.project == name
        ]
        write_page(output / "simple" / name / "index.html", f"Links for {name}", "".join(own))


def write(args: argparse.Namespace) -> None:
    """Fill the directory."""
    output = Path(args.output)
    output.mkdir(parents=True, exist_ok=True)
    distributions = []
    for path, metadata, digest in zip(args.distribution, args.metadata, args.digest, strict=True):
        document = read_document(digest)
        filename = document["filename"]
        place(path, output / filename)
        content = Path(metadata).read_bytes()
        if filename.endswith(".whl"):
            (output / f"{filename}.metadata").write_bytes(content)
        distributions.append(Distribution(filename, document["sha256"], hashlib.sha256(content).hexdigest()))
    write_pages(output, distributions, args.requires_python)


def main(argv: list[str]) -> int:
    """Parse the arguments and fills the directory."""
    parser = argument_parser(__doc__)
    parser.add_argument("--label", required=True, help="Bazel target, named in errors")
    parser.add_argument("--distribution", action="append", default=[], help="a wheel or sdist")
    parser.add_argument(
        "--metadata", action="append", default=[], help="its core metadata, in the order of the distributions"
    )
    parser.add_argument("--digest", action="append", default=[], help="JSON file: its filename, size and sha256")
    parser.add_argument("--requires-python", required=True, help="version specifier that every link carries")
    parser.add_argument("--output", required=True, help="directory to fill")
    args = parser.parse_args(argv)
    return report_errors(args.label, lambda: write(args))
