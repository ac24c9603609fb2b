"""Lays distributions into a directory with a package index, for installers and for people.

`simple/` is the simple repository API, a page and a JSON file per project; `find-links.html` a flat page for
`--find-links`; `index.html` a landing page, which serves for `--find-links`, too. Beside each wheel lies its core
metadata, which installers read instead of the whole file. Every link has a SHA-256. The distributions themselves are
not read: their digests were taken when they were written.

Distributions that are `static` as well lie in `static/` with such pages of their own. These list all other projects,
too, so that one index serves; but the main pages do not list what is static: installers prefer a wheel to an sdist of
the same version.

Distributions with a `variant` are wheel variants. A file beside them, `{name}-{version}-variants.json`, lists what
the `variant.json` of each says.

`wheels` are a wheel that no rule of this project made, or a directory of them, which describe has read. Split wheels,
whose local version ends in a GPU target or family, lie in a directory of that name, with an index of its own as well:
of several local versions, installers would take the last.

Files are said to be uploaded when SOURCE_DATE_EPOCH says, else in 1980.
"""

from dataclasses import dataclass
from pathlib import Path

from lib.common.arguments import run_program
from tools.actions.index.index_directory import STATIC, IndexSource, read_wheels, write_index
from tools.actions.index.landing_page import Site
from tools.actions.index.model import read_distribution
from tools.actions.index.selector import read_selector


@dataclass(frozen=True)
class Arguments:
    """What the rule says; a `str` is the path of a file, unless its comment says otherwise."""

    label: str
    title: str  #: Headline of the landing page.
    style: str  #: Style sheet of the landing page.
    script: str  #: Script of the landing page, which also works without it.
    selector: str | None  #: GPU targets and their packages, as distributions_file writes it.
    distribution: list[str]  #: Wheels and sdists.
    metadata: list[str]  #: Their core metadata, in their order.
    digest: list[str]  #: Their names, sizes and SHA-256, in their order.
    static: list[str]  #: Distributions that get an index of their own.
    variant: dict[str, str]  #: The `variant.json` of distributions.
    wheels: list[str]  #: Wheels, or directories of them.
    described: list[str]  #: What describe says of them, in their order.
    output: str  #: Directory to fill.


def write(args: Arguments) -> None:
    """Fill the directory."""
    site = Site(
        title=args.title,
        style=Path(args.style).read_text(encoding="utf-8"),
        script=Path(args.script).read_text(encoding="utf-8"),
    )
    sources = [
        IndexSource(
            read_distribution(digest, metadata, STATIC if path in args.static else ""),
            path,
            metadata,
            args.variant.get(path),
        )
        for path, metadata, digest in zip(args.distribution, args.metadata, args.digest, strict=True)
    ]
    for wheels, described in zip(args.wheels, args.described, strict=True):
        sources += read_wheels(Path(wheels), Path(described))
    selector = read_selector(args.selector) if args.selector else None
    write_index(site, Path(args.output), sources, selector)


def main(argv: list[str]) -> int:
    """Fill the directory."""
    return run_program(Arguments, argv, write)
