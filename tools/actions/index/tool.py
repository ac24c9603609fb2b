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

import os
import posixpath
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from lib.common.arguments import run_program
from lib.common.program import ToolError, archive_time
from lib.gpus.paths import in_distribution, target_of_local_version
from lib.index.landing_page import Site
from lib.index.model import STATIC, Distribution, list_variants, read_distribution
from lib.index.selector import Selector, read_selector
from lib.index.site_pages import site_pages
from lib.wheel.variant_format import VARIANT_JSON


@dataclass(frozen=True)
class IndexSource:
    """A distribution, and where it, its core metadata and, of a wheel variant, its `variant.json` are."""

    distribution: Distribution
    path: str
    metadata: str
    variant: str | None = None


def read_wheels(wheels: Path, described: Path) -> list[IndexSource]:
    """Return a wheel, or a directory's wheels, with what describe says. Raises ToolError as `read_distribution` does.

    Wheels for one target or family are for the directory of that name: `gfx942`, `gfx110x-all`.
    """
    places = {path.name: path for path in wheels.rglob("*.whl")} if wheels.is_dir() else {}
    sources = []
    for digest in sorted(described.glob("*.digest.json")):
        metadata = str(digest).removesuffix(".digest.json") + ".metadata"
        one = read_distribution(str(digest), metadata, "")
        target = target_of_local_version(one.version.local)
        directory = in_distribution(target) if target else ""
        path = str(places.get(one.filename, wheels))
        sources.append(IndexSource(replace(one, directory=directory), path, metadata))
    if not sources:
        raise ToolError(f"{described}: has no data about {wheels}; expected the output of describe. Build it again")
    return sources


def write_index(site: Site, output: Path, sources: list[IndexSource], selector: Selector | None) -> None:
    """Fill the directory. Raises ToolError where nothing is listed, or one file twice."""
    _check(sources)
    for source in sources:
        _place_distribution(source, output)
    distributions = [source.distribution for source in sources]
    variants = list_variants(
        {source.distribution: Path(source.variant).read_bytes() for source in sources if source.variant}
    )
    for one in variants:
        (output / one.directory / one.filename).write_bytes(one.content)
    for path, text in site_pages(site, distributions, variants, selector, uploaded=archive_time()).items():
        _write_text(output / path, text)


def _check(sources: list[IndexSource]) -> None:
    if not any(source.distribution.directory == "" for source in sources):
        raise ToolError(
            "no distribution to list; expected one in `distributions` that is not a split wheel for some GPUs. "
            "Add what these wheels require, such as the SDK's packages"
        )
    paths: dict[str, str] = {}
    for source in sources:
        name = posixpath.join(source.distribution.directory, source.distribution.filename)
        if name in paths:
            raise ToolError(
                f"{name}: both {paths[name]} and {source.path} have this name; expected one file of it. Leave one out"
            )
        paths[name] = source.path
        if bool(source.distribution.label) != bool(source.variant):
            raise ToolError(
                f"{source.path}: expected a label at the end of a wheel variant's name, and its {VARIANT_JSON}, or "
                "neither. Name the wheel by the rule that made it"
            )


def _place_distribution(source: IndexSource, output: Path) -> None:
    distribution = source.distribution
    directory = output / distribution.directory
    directory.mkdir(parents=True, exist_ok=True)
    _link_or_copy(source.path, directory / distribution.filename)
    if distribution.is_wheel:
        shutil.copyfile(source.metadata, directory / f"{distribution.filename}.metadata")


def _link_or_copy(source: str, target: Path) -> None:
    """Hard-link a file, or copy it where that cannot be, as between file systems."""
    try:
        os.link(os.path.realpath(source), target)
    except OSError:
        shutil.copyfile(source, target)


def _write_text(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@dataclass(frozen=True)
class Arguments:
    """Arguments from the rule. A `str` is the path of a file, unless its comment says otherwise."""

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
