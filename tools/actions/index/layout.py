"""Lays distributions, their metadata and all pages into the directory of the index.

write_index(site, Path("dist"), [Source(distribution, "path/of/it", "path/of/its/METADATA")], selector=None)

index.html         for people                     find-links.html    all files, flat
simple/            index.html and index.json, and a directory with both for each project
static/            the same again, for the index that has what is static
"""

import os
import posixpath
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tools.actions.index.model import Distribution, Index, VariantList, list_variants
from tools.actions.index.offers import find_offers
from tools.actions.index.people import Site, people_page
from tools.actions.index.selector import Selector
from tools.actions.index.simple_api import (
    SIMPLE,
    find_links_page,
    project_directory,
    project_document,
    project_list_document,
    project_list_page,
    project_page,
)
from tools.lib.common.archive_time import archive_time
from tools.lib.common.program import ToolError, write_document
from tools.lib.variants.variant_format import VARIANT_JSON

#: Directory of the distributions that have an index of their own.
STATIC = "static"


@dataclass(frozen=True)
class IndexSource:
    """A distribution, and where it, its core metadata and, of a wheel variant, its `variant.json` are."""

    distribution: Distribution
    path: str
    metadata: str
    variant: str | None = None


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
    main, static = indexes(distributions, variants)
    for index, other in ((main, STATIC if static else ""), (static, "..")):
        if index is not None:
            offers = find_offers(distributions, index, selector)
            page = people_page(replace(site, other=other), index, offers, selector)
            _write_text(output / index.directory / "index.html", page)
            _write_api(index, output)


def indexes(distributions: Sequence[Distribution], variants: Sequence[VariantList] = ()) -> tuple[Index, Index | None]:
    """Return the main index and the static one, if something is static; each with the lists of its wheel variants.

    The main one does not list what is static: installers prefer a wheel to an sdist of the same version. The static
    one lists all other projects as well, so that one index serves.
    """
    main = Index.of("", [one for one in distributions if one.directory != STATIC], variants)
    apart = [one for one in distributions if one.directory == STATIC]
    if not apart:
        return main, None
    projects = {one.project for one in apart}
    others = [one for one in main.distributions if one.project not in projects]
    return main, Index.of(STATIC, apart + others, variants)


def _check(sources: list[IndexSource]) -> None:
    if not any(source.distribution.directory == "" for source in sources):
        raise ToolError("no distribution to list; expected one at least in `distributions`")
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
    _place(source.path, directory / distribution.filename)
    if distribution.is_wheel:
        shutil.copyfile(source.metadata, directory / f"{distribution.filename}.metadata")


def _place(source: str, target: Path) -> None:
    """Hard-links a file, or copies it where that cannot be."""
    try:
        os.link(os.path.realpath(source), target)
    except OSError:
        shutil.copyfile(source, target)


def _write_api(index: Index, output: Path) -> None:
    _write_text(output / index.directory / "find-links.html", find_links_page(index))
    for directory, page, document in _api(index):
        _write_text(output / directory / "index.html", page)
        write_document(str(output / directory / "index.json"), document)


def _api(index: Index) -> Iterator[tuple[str, str, dict[str, object]]]:
    """Yield each directory of the simple repository API, with what is in it: a page and a JSON object."""
    yield posixpath.join(index.directory, SIMPLE), project_list_page(index), project_list_document(index)
    for project in index.projects():
        document = project_document(index, project, archive_time())
        yield project_directory(index, project), project_page(index, project), document


def _write_text(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
