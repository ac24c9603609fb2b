"""Lays distributions, their metadata and all pages into the directory of the index.

write_index(site, Path("dist"), [Source(distribution, "path/of/it", "path/of/its/METADATA")], selector=None)

index.html         for people                     find-links.html    all files, flat
simple/            index.html and index.json, and a directory with both for each project
static/            the same again, for the index that has what is static
gfx942/            the same again, for each GPU target or family that there are split wheels for
"""

import posixpath
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lib.common.archive_time import archive_time
from lib.common.hard_link import link_or_copy
from lib.common.program import ToolError, write_document
from lib.gpus.architectures import in_distribution
from lib.gpus.paths import target_of_local_version
from lib.variants.variant_format import VARIANT_JSON
from tools.actions.index.downloads import find_offers
from tools.actions.index.landing_page import Site, people_page
from tools.actions.index.model import Distribution, Index, VariantList, list_variants, read_distribution
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

#: Directory of the distributions that have an index of their own.
STATIC = "static"


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
    main, *others = indexes(distributions, variants)
    apart = tuple(index.directory for index in others)
    for index in (main, *others):
        # What is static says what the sdist offers; split wheels of other targets say nothing here.
        told = [one for one in distributions if one.directory in ("", STATIC, index.directory)]
        offers = find_offers(told, index, selector)
        here = replace(site, other="..") if index.directory else _with_others(site, apart)
        _write_text(output / index.directory / "index.html", people_page(here, index, offers, selector))
        _write_api(index, output)


def _with_others(site: Site, directories: tuple[str, ...]) -> Site:
    """Return what the main page has in common with the others, and which these are."""
    by_target = tuple(one for one in directories if one != STATIC)
    return replace(site, other=STATIC if STATIC in directories else "", targets=by_target)


def indexes(distributions: Sequence[Distribution], variants: Sequence[VariantList] = ()) -> list[Index]:
    """Return the main index, and one for each directory that some distributions lie apart in: `static`, or a target.

    The main one does not list these: installers prefer a wheel to an sdist of the same version, and the local version
    of a split wheel to the fat one. The others list all other projects as well, so that one index serves.
    """
    main = Index.of("", [one for one in distributions if not one.directory], variants)
    found = [main]
    for directory in sorted({one.directory for one in distributions} - {""}):
        apart = [one for one in distributions if one.directory == directory]
        projects = {one.project for one in apart}
        others = [one for one in main.distributions if one.project not in projects]
        found.append(Index.of(directory, [*apart, *others], variants))
    return found


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
    link_or_copy(source.path, directory / distribution.filename)
    if distribution.is_wheel:
        shutil.copyfile(source.metadata, directory / f"{distribution.filename}.metadata")


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
