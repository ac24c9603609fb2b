"""Reads core metadata as leniently as can be: what is malformed in them `verify.checks` says already."""

from contextlib import suppress
from dataclasses import dataclass

from packaging.metadata import RawMetadata, parse_email
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name


@dataclass(frozen=True)
class Dependencies:
    """What is required, and the extras that are offered, normalised."""

    requires: tuple[Requirement, ...] = ()
    extras: frozenset[str] = frozenset()


def raw_metadata(content: bytes | None) -> RawMetadata:
    """Return the fields of METADATA or PKG-INFO, without those that cannot be read."""
    try:
        return parse_email(content or b"")[0]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def dependencies(content: bytes | None) -> Dependencies:
    """Return the requirements that can be read."""
    raw = raw_metadata(content)
    requires = []
    for text in raw.get("requires_dist", ()):
        with suppress(InvalidRequirement):
            requires.append(Requirement(text))
    return Dependencies(tuple(requires), frozenset(canonicalize_name(extra) for extra in raw.get("provides_extra", ())))
