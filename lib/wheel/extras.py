"""Requirements of extras: each holds for its extra alone, by a marker (PEP 508)."""

from collections.abc import Iterable
from dataclasses import replace

from packaging.markers import Marker
from packaging.requirements import InvalidRequirement, Requirement

from lib.common.program import ToolError
from lib.wheel.metadata_writer import Project


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
