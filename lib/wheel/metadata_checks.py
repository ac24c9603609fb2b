"""What must hold of a distribution's metadata, before anything is made of it.

Each check raises ToolError naming the distribution, the field, what was expected and the remedy: an index refuses an
upload long after the build, and with fewer words.
"""

import re

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
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
