"""The simple repository API, as HTML (PEP 503) and as JSON (PEP 691), and a flat page for `--find-links`.

    project_page(index, "rocm")          simple/rocm/index.html
    project_document(index, "rocm", …)   simple/rocm/index.json

Every file comes with its SHA-256, the Python versions that it is for, and for wheels the digest of the core metadata
beside it (PEP 658), as `core-metadata` (PEP 714). A file that was withdrawn says why (PEP 592), and a file with
provenance where to find it (PEP 740). JSON says also how big it is, since when it is there, and which versions there
are (PEP 700). Beside wheel variants, pages have the file that lists them (PEP 825).

The old name of that digest, `dist-info-metadata`, is left out for the sake of pip 22.3 to 23.1, which know no other: in
JSON it makes them fail, in HTML it makes them download each wheel twice. Without it they do neither.
"""

import posixpath
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from dominate.dom_tag import dom_tag
from dominate.tags import a, br, meta

from lib.index.markup import html_page
from lib.index.model import Distribution, Index, VariantList

#: The version that has all that is said here. Clients warn of newer ones that they do not know.
API_VERSION = "1.1"
#: A provenance object lies at the address of its file with this behind it.
PROVENANCE_SUFFIX = ".provenance"
#: Directory of the API below an index.
SIMPLE = "simple"


def api_pages(index: Index, upload_time: int) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield each directory of the API, with what is in it: a page and a JSON object. The root comes first."""
    yield posixpath.join(index.directory, SIMPLE), project_list_page(index), project_list_document(index)
    for project in index.projects():
        document = project_document(index, project, upload_time)
        yield project_directory(index, project), project_page(index, project), document


def project_list_page(index: Index) -> str:
    """Return the page at the root of the API."""
    return _anchors_page("Simple index", [a(name, href=f"{name}/") for name in index.projects()])


def project_page(index: Index, project: str) -> str:
    """Return the page of a project."""
    page = project_directory(index, project)
    anchors = [file_anchor(one, page) for one in index.projects()[project]]
    return _anchors_page(f"Links for {project}", anchors + _variant_anchors(index, page, project))


def find_links_page(index: Index) -> str:
    """Return the page that lists all files, for `--find-links`."""
    anchors = [file_anchor(one, index.directory) for one in index.distributions]
    return _anchors_page("Links", anchors + _variant_anchors(index, index.directory))


def project_list_document(index: Index) -> dict[str, Any]:
    """Return the JSON object at the root of the API."""
    return {"meta": {"api-version": API_VERSION}, "projects": [{"name": name} for name in index.projects()]}


def project_document(index: Index, project: str, upload_time: int) -> dict[str, Any]:
    """Return the JSON object of a project; `upload_time` is in seconds since 1970."""
    files = index.projects()[project]
    page = project_directory(index, project)
    return {
        "meta": {"api-version": API_VERSION},
        "name": project,
        "versions": [str(version) for version in sorted({one.version for one in files})],
        "files": [_file_document(one, page, upload_time) for one in files]
        + [_document(one, len(one.content), page, upload_time) for one in index.variants if one.project == project],
    }


def project_directory(index: Index, project: str) -> str:
    """Return the directory of a project's pages."""
    return posixpath.join(index.directory, SIMPLE, project)


def file_anchor(distribution: Distribution, page: str) -> dom_tag:
    """Return the link to a file from a page in the directory `page`, with all that installers look for in it."""
    attributes = {"href": f"{distribution.address(page)}#sha256={distribution.sha256}"}
    if distribution.requires_python:
        attributes["data-requires-python"] = distribution.requires_python
    if distribution.is_wheel:
        attributes["data-core-metadata"] = f"sha256={distribution.metadata_sha256}"
    if distribution.yanked:
        attributes["data-yanked"] = distribution.yanked
    if distribution.provenance_sha256:
        attributes["data-provenance"] = distribution.address(page) + PROVENANCE_SUFFIX
    return a(distribution.filename, attributes)


def variants_anchor(variants: VariantList, page: str) -> dom_tag:
    """Return the link to a list of wheel variants from a page in the directory `page`."""
    return a(variants.filename, href=f"{variants.address(page)}#sha256={variants.sha256}")


def _variant_anchors(index: Index, page: str, project: str = "") -> list[dom_tag]:
    """Return the links to lists of wheel variants; if a project is named, to its lists only."""
    return [variants_anchor(one, page) for one in index.variants if project in ("", one.project)]


def _document(file: Distribution | VariantList, size: int, page: str, upload_time: int) -> dict[str, Any]:
    """Return what JSON says of every file."""
    uploaded = upload_time if file.uploaded is None else file.uploaded
    return {
        "filename": file.filename,
        "url": file.address(page),
        "hashes": {"sha256": file.sha256},
        "size": size,
        "upload-time": datetime.fromtimestamp(uploaded, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
    }


def _file_document(distribution: Distribution, page: str, upload_time: int) -> dict[str, Any]:
    document = _document(distribution, distribution.size, page, upload_time)
    if distribution.requires_python:
        document["requires-python"] = distribution.requires_python
    if distribution.is_wheel:
        document["core-metadata"] = {"sha256": distribution.metadata_sha256}
    if distribution.yanked:
        document["yanked"] = distribution.yanked
    if distribution.provenance_sha256:
        document["provenance"] = distribution.address(page) + PROVENANCE_SUFFIX
    return document


def _anchors_page(title: str, anchors: list[dom_tag]) -> str:
    lines = [part for anchor in anchors for part in (anchor, br())]
    version = meta(name="pypi:repository-version", content=API_VERSION)
    return html_page(title, lines, metadata=[version])
