"""The texts of a distribution: METADATA or PKG-INFO, WHEEL and entry_points.txt.

Core metadata 2.4 (PEP 566, PEP 639), wheels 1.0 (PEP 427), entry points as the PyPA specification has them.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from packaging.markers import Marker
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from lib.common.program import ToolError

#: Longest label of a project URL that indexes take, in characters (core metadata, Project-URL).
LABEL_MAX = 32


def check_version(text: str, distribution: str) -> None:
    """Raise ToolError unless the version is one of PEP 440 in its normal form: file names are made of it."""
    try:
        normal = str(Version(text))
    except InvalidVersion:
        raise ToolError(
            f"{distribution}: {text!r} is not a version that PEP 440 knows; expected one like 7.10.0, 7.10.0rc2 or "
            "7.10.0.dev0. Set `version`"
        ) from None
    if normal != text:
        raise ToolError(f"{distribution}: {text!r} is not in normal form; expected {normal!r}. Set `version` to that")


def check_license(expression: str, distribution: str) -> None:
    """Raise ToolError unless the licence expression is one of SPDX identifiers, in the case that SPDX has (PEP 639)."""
    try:
        normal = canonicalize_license_expression(expression)
    except InvalidLicenseExpression:
        raise ToolError(
            f"{distribution}: license_expression {expression!r} is not an SPDX expression; expected identifiers of the "
            "SPDX licence list, joined by AND, OR and WITH, like 'MIT AND Apache-2.0'"
        ) from None
    if normal != expression:
        raise ToolError(f"{distribution}: license_expression {expression!r} is not in normal form; expected {normal!r}")


def check_requires_python(text: str, distribution: str) -> None:
    """Raise ToolError unless Requires-Python is a version specifier (PEP 440)."""
    try:
        SpecifierSet(text)
    except InvalidSpecifier:
        raise ToolError(f"{distribution}: requires_python {text!r}; expected a version specifier, like >=3.9") from None


def check_requirements(requirements: tuple[str, ...], distribution: str) -> None:
    """Raise ToolError unless each requirement is one of PEP 508."""
    for requirement in requirements:
        try:
            Requirement(requirement)
        except InvalidRequirement as error:
            raise ToolError(f"{distribution}: requires {requirement!r}; expected a requirement: {error}") from None


def check_urls(urls: tuple[tuple[str, str], ...], distribution: str) -> None:
    """Raise ToolError unless indexes show each project URL: it needs a short label, and an address on the web."""
    for label, url in urls:
        if not 0 < len(label) <= LABEL_MAX or "," in label or not re.fullmatch(r"https?://\S+", url):
            raise ToolError(
                f"{distribution}: urls name {label!r}: {url!r}; expected a label of at most {LABEL_MAX} characters "
                "without a comma, and an address that begins with https://"
            )


def check_classifiers(classifiers: tuple[str, ...], distribution: str) -> None:
    """Raise ToolError for what is no classifier, and for one about a licence, which PEP 639 replaced."""
    for classifier in classifiers:
        if not re.fullmatch(r"\S.*( :: \S.*)+", classifier):
            raise ToolError(
                f"{distribution}: classifier {classifier!r}; expected 'Topic :: Subtopic', as PyPI lists them"
            )
        if classifier.startswith("License ::"):
            raise ToolError(
                f"{distribution}: classifier {classifier!r}: license_expression has it already, and indexes refuse "
                "both. Expected the licence in license_expression alone: remove the classifier"
            )


def check_people(attribute: str, people: tuple[str, ...], distribution: str) -> None:
    """Raise ToolError unless each of `people` is a name, an address, or both (RFC 822, without commas)."""
    for one in people:
        if not re.fullmatch(r"[^@<>,\s][^@<>,]*|[^@<>,\s]+@[^@<>,\s]+|[^@<>,\s][^@<>,]*<[^@<>,\s]+@[^@<>,\s]+>", one):
            raise ToolError(
                f"{distribution}: {attribute} name {one!r}; expected a name, an address, or both, like "
                "'Ann Author <ann@example.org>', without commas"
            )


def check_keywords(keywords: tuple[str, ...], distribution: str) -> None:
    """Raise ToolError for a keyword with a comma, which separates keywords, or without a word."""
    for keyword in keywords:
        if "," in keyword or not keyword.strip():
            raise ToolError(f"{distribution}: keyword {keyword!r}; expected a word or several, without a comma")


#: Indexes refuse versions of core metadata that they do not know.
METADATA_VERSION: Final = "2.4"


@dataclass(frozen=True)
class Project:
    """Metadata of a distribution, from a BUILD file."""

    distribution: str
    version: str
    summary: str
    requires_python: str
    license_expression: str
    license_files: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    #: Libraries that the user's machine must have, by SONAME.
    requires_external: tuple[str, ...] = ()
    #: Names of extras that requirements ask for by a marker.
    extras: tuple[str, ...] = ()
    #: Fields that an sdist leaves to its build backend (PEP 643).
    dynamic: tuple[str, ...] = ()
    classifiers: tuple[str, ...] = ()
    #: Each a name, an address, or `NAME <ADDRESS>`.
    authors: tuple[str, ...] = ()
    maintainers: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    urls: tuple[tuple[str, str], ...] = ()

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> "Project":
        """Read the JSON that the rule wrote; raises ToolError for what `metadata_checks` refuses."""
        lists = ["license_files", "requires", "requires_external", "dynamic", "classifiers"]
        lists += ["authors", "maintainers", "keywords"]
        values = {key: document[key] for key in cls.__dataclass_fields__ if key in document}
        values |= {key: tuple(document.get(key, ())) for key in lists}
        values["urls"] = tuple(sorted(document.get("urls", {}).items()))
        project = cls(**values)
        check_version(project.version, project.distribution)
        check_license(project.license_expression, project.distribution)
        check_requires_python(project.requires_python, project.distribution)
        check_requirements(project.requires, project.distribution)
        check_classifiers(project.classifiers, project.distribution)
        check_urls(project.urls, project.distribution)
        check_people("authors", project.authors, project.distribution)
        check_people("maintainers", project.maintainers, project.distribution)
        check_keywords(project.keywords, project.distribution)
        return project


def _people(field: str, people: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the fields that name people: those with an address are in one of their own (PyPA, "Author-email")."""
    for name, chosen in (
        (field, [one for one in people if "@" not in one]),
        (f"{field}-email", [one for one in people if "@" in one]),
    ):
        if chosen:
            yield name, ", ".join(chosen)


def core_metadata(project: Project, description: str) -> str:
    """Return the text of METADATA, or of an sdist's PKG-INFO; raises ToolError for a field of several lines."""
    fields = [
        ("Metadata-Version", METADATA_VERSION),
        *(("Dynamic", name) for name in project.dynamic),
        ("Name", project.distribution),
        ("Version", project.version),
        ("Summary", project.summary),
        *_people("Author", project.authors),
        *_people("Maintainer", project.maintainers),
        *([("Keywords", ",".join(project.keywords))] if project.keywords else []),
        ("License-Expression", project.license_expression),
        *(("License-File", name) for name in project.license_files),
        *(("Classifier", classifier) for classifier in project.classifiers),
        *(("Project-URL", f"{name}, {url}") for name, url in project.urls),
        ("Requires-Python", project.requires_python),
        *(("Provides-Extra", extra) for extra in project.extras),
        *(("Requires-Dist", requirement) for requirement in project.requires),
        *(("Requires-External", library) for library in project.requires_external),
        ("Description-Content-Type", "text/markdown"),
    ]
    # A dynamic field has no value here: its build backend says it (PEP 643).
    fields = [(name, value) for name, value in fields if name not in project.dynamic]
    for name, value in fields:
        if len(value.splitlines()) != 1:
            raise ToolError(f"{project.distribution}: {name} is {value!r}; expected one line of text")
    return "".join(f"{name}: {value}\n" for name, value in fields) + "\n" + description


def wheel_text(tag: str, *, purelib: bool = False) -> str:
    """Return the text of WHEEL for one tag, `python-abi-platform`; a compressed set is expanded to a line each.

    `purelib` says whether the wheel holds nothing but Python. Raises ToolError for what is no tag.
    """
    if not re.fullmatch(r"[\w.]+-[\w.]+-[\w.]+", tag, re.ASCII):
        raise ToolError(
            f"tag {tag!r}: expected python-abi-platform as PEP 425 has it, like py3-none-linux_x86_64. "
            "Set `platform_tag` to a platform alone, like manylinux_2_28_x86_64"
        )
    python, abi, platform = tag.split("-")
    tags = [f"{p}-{a}-{f}" for p in python.split(".") for a in abi.split(".") for f in platform.split(".")]
    lines = [
        "Wheel-Version: 1.0",
        "Generator: rules_rocm_python",
        f"Root-Is-Purelib: {str(purelib).lower()}",
        *(f"Tag: {tag}" for tag in tags),
    ]
    return "\n".join(lines) + "\n"


def entry_points_text(scripts: list[tuple[str, str]]) -> str:
    """Return the text of entry_points.txt for console scripts: (name, object reference)."""
    return "[console_scripts]\n" + "".join(f"{name} = {reference}\n" for name, reference in sorted(scripts))


def with_extras(project: Project, arguments: Iterable[str]) -> Project:
    """Return the project with the extras of arguments `EXTRA=REQUIREMENT`; raises ToolError for what is none."""
    extras = [(extra, requirement) for extra, _, requirement in (argument.partition("=") for argument in arguments)]
    marked = tuple(_marked(requirement, extra, project.distribution) for extra, requirement in extras)
    names = tuple(dict.fromkeys(extra for extra, _ in extras))
    return replace(project, extras=names, requires=project.requires + marked)


def _marked(text: str, extra: str, distribution: str) -> str:
    """Return a requirement (PEP 508) that holds for the extra only, and for what its own marker says."""
    try:
        requirement = Requirement(text)
    except InvalidRequirement as error:
        raise ToolError(f"{distribution}: extra {extra} requires {text!r}; expected a requirement: {error}") from None
    own = f"({requirement.marker}) and " if requirement.marker else ""
    requirement.marker = Marker(f'{own}extra == "{extra}"')
    return str(requirement)
