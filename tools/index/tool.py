"""Writes the package index of a set of distributions (PEP 503): pages with a SHA-256 in every link.

    index --label TARGET --digest FILE… --requires-python SPEC --links OUT --root OUT --project NAME=OUT…

It reads digests, never distributions. `--links` is a flat page for `--find-links`,
`--root` and `--project` are the pages of the simple repository API.
"""

import argparse
import html
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import canonicalize_name, parse_sdist_filename, parse_wheel_filename

from tools.common.documents import read_document
from tools.common.program import argument_parser, file_arguments, report_errors

PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="pypi:repository-version" content="1.0">
<title>{title}</title>
</head>
<body>
{body}</body>
</html>
"""


@dataclass(frozen=True)
class Distribution:
    """One file of the index."""

    filename: str
    sha256: str

    @property
    def project(self) -> str:
        """The project's normalised name (PEP 503)."""
        parse = parse_wheel_filename if self.filename.endswith(".whl") else parse_sdist_filename
        return str(parse(self.filename)[0])

    def anchor(self, directory: str, requires_python: str) -> str:
        """The link to the file, from a page for which the files lie in `directory`."""
        url = html.escape(f"{directory}{self.filename}#sha256={self.sha256}")
        return f'<a href="{url}" data-requires-python="{html.escape(requires_python)}">{html.escape(self.filename)}</a><br>\n'


def page(title: str, body: str) -> str:
    """The text of a page."""
    return PAGE.format(title=html.escape(title), body=body)


def write(args: argparse.Namespace) -> None:
    """Writes all pages."""
    documents = [read_document(path) for path in args.digest]
    distributions = sorted((Distribution(d["filename"], d["sha256"]) for d in documents), key=lambda d: d.filename)
    projects = file_arguments(args.project)
    flat = "".join(distribution.anchor("", args.requires_python) for distribution in distributions)
    Path(args.links).write_text(page("Links", flat), encoding="utf-8")
    rows = "".join(f'<a href="{html.escape(canonicalize_name(n))}/">{html.escape(n)}</a><br>\n' for n in sorted(projects))
    Path(args.root).write_text(page("Simple index", rows), encoding="utf-8")
    for name, path in projects.items():
        own = [distribution for distribution in distributions if distribution.project == canonicalize_name(name)]
        body = "".join(distribution.anchor("../../", args.requires_python) for distribution in own)
        Path(path).write_text(page(f"Links for {name}", body), encoding="utf-8")


def main(argv: list[str]) -> int:
    """Parses the arguments and writes."""
    parser = argument_parser(__doc__)
    parser.add_argument("--label", required=True, help="Bazel target, named in errors")
    parser.add_argument("--digest", action="append", default=[], help="JSON file of a distribution: filename, size, sha256")
    parser.add_argument("--requires-python", required=True, help="version specifier that every link carries")
    parser.add_argument("--links", required=True, help="flat page to write")
    parser.add_argument("--root", required=True, help="root page to write")
    parser.add_argument("--project", action="append", default=[], metavar="NAME=FILE", help="project page to write")
    args = parser.parse_args(argv)
    return report_errors(args.label, lambda: write(args))
