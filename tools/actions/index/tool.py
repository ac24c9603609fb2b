"""Lays distributions into a directory with a package index, for installers and for people.

    index --label TARGET --title TEXT --style CSS --script JS [--selector JSON] --output DIR
          (--distribution FILE --metadata FILE --digest FILE)… [--static FILE…] [--variant WHEEL=JSON…]
          (--wheels PATH --described DIR)…

`simple/` is the simple repository API, a page and a JSON file per project; `find-links.html` a flat page for
`--find-links`; `index.html` a landing page, which serves for `--find-links`, too. Beside each wheel lies its core
metadata, which installers read instead of the whole file. Every link has a SHA-256. The distributions themselves are
not read: their digests were taken when they were written.

Distributions named `--static` as well lie in `static/` with such pages of their own. These list all other projects,
too, so that one index serves; but the main pages do not list what is static: installers prefer a wheel to an sdist of
the same version.

Distributions named by `--variant` are wheel variants. A file beside them, `{name}-{version}-variants.json`, lists what
the `variant.json` of each says.

`--wheels` are a wheel that no rule of this project made, or a directory of them, which describe has read. Split wheels,
whose local version ends in a GPU target or family, lie in a directory of that name, with an index of its own as well:
of several local versions, installers would take the last.

Files are said to be uploaded when SOURCE_DATE_EPOCH says, else in 1980.
"""

from dataclasses import dataclass
from pathlib import Path

from lib.common.program import argument_parser, file_arguments, report_errors
from tools.actions.index.index_directory import STATIC, IndexSource, read_wheels, write_index
from tools.actions.index.landing_page import Site
from tools.actions.index.model import read_distribution
from tools.actions.index.selector import read_selector


@dataclass(frozen=True)
class Arguments:
    """The command line; `--help` says what each argument is."""

    label: str
    title: str
    style: str
    script: str
    selector: str | None
    distribution: list[str]
    metadata: list[str]
    digest: list[str]
    static: list[str]
    variant: list[str]
    wheels: list[str]
    described: list[str]
    output: str


def write(args: Arguments) -> None:
    """Fill the directory."""
    site = Site(
        title=args.title,
        style=Path(args.style).read_text(encoding="utf-8"),
        script=Path(args.script).read_text(encoding="utf-8"),
    )
    variants = file_arguments(args.variant)
    sources = [
        IndexSource(
            read_distribution(digest, metadata, STATIC if path in args.static else ""),
            path,
            metadata,
            variants.get(path),
        )
        for path, metadata, digest in zip(args.distribution, args.metadata, args.digest, strict=True)
    ]
    for wheels, described in zip(args.wheels, args.described, strict=True):
        sources += read_wheels(Path(wheels), Path(described))
    selector = read_selector(args.selector) if args.selector else None
    write_index(site, Path(args.output), sources, selector)


def main(argv: list[str]) -> int:
    """Parse the arguments and fill the directory."""
    parser = argument_parser(__doc__)
    parser.add_argument("--label", required=True, help="Bazel target, named in errors")
    parser.add_argument("--title", required=True, help="headline of the landing page")
    parser.add_argument("--style", required=True, help="style sheet of the landing page")
    parser.add_argument("--script", required=True, help="script of the landing page, which also works without it")
    parser.add_argument("--selector", help="JSON file: GPU targets and their packages, as distributions_file writes it")
    parser.add_argument("--distribution", action="append", default=[], help="a wheel or sdist")
    parser.add_argument(
        "--metadata", action="append", default=[], help="its core metadata, in the order of the distributions"
    )
    parser.add_argument("--digest", action="append", default=[], help="JSON file: its filename, size and sha256")
    parser.add_argument(
        "--static", action="append", default=[], metavar="FILE", help="a distribution that gets an index of its own"
    )
    parser.add_argument(
        "--variant", action="append", default=[], metavar="WHEEL=JSON", help="a distribution's variant.json"
    )
    parser.add_argument("--wheels", action="append", default=[], metavar="PATH", help="a wheel, or a directory of them")
    parser.add_argument(
        "--described", action="append", default=[], metavar="DIR", help="what describe says of them, in their order"
    )
    parser.add_argument("--output", required=True, help="directory to fill")
    args = Arguments(**vars(parser.parse_args(argv)))
    return report_errors(args.label, lambda: write(args))
