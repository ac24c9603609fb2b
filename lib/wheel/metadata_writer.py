"""The texts of a distribution: METADATA or PKG-INFO, WHEEL and entry_points.txt.

Core metadata 2.4 (PEP 566, PEP 639), wheels 1.0 (PEP 427), entry points as the PyPA specification has them.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

from packaging.markers import Marker
from packaging.requirements import InvalidRequirement, Requirement

from lib.common.program import ToolError
from lib.wheel import metadata_checks

#: Indexes refuse versions of core metadata that they do not know.
METADATA_VERSION: Final = "2.4"


@dataclass(frozen=True)
class Project:
    """What a BUILD file says about a distribution."""

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
        metadata_checks.check_version(project.version, project.distribution)
        metadata_checks.check_license(project.license_expression, project.distribution)
        metadata_checks.check_requires_python(project.requires_python, project.distribution)
        metadata_checks.check_requirements(project.requires, project.distribution)
        metadata_checks.check_classifiers(project.classifiers, project.distribution)
        metadata_checks.check_urls(project.urls, project.distribution)
        metadata_checks.check_people("authors", project.authors, project.distribution)
        metadata_checks.check_people("maintainers", project.maintainers, project.distribution)
        metadata_checks.check_keywords(project.keywords, project.distribution)
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
