"""The statement beside a distribution: which file it is, what it was built from, and with which settings.

It is an in-toto Statement v1 with a SLSA provenance v1 as its predicate. It has no time, no machine and no user: equal
materials and settings give equal bytes. An action writes it; `rocm-wheels channel` signs it, and `rocm-wheels rebuild`
builds again what it says. docs/release/provenance.md describes its fields.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Self

from lib.common.documents import from_document, to_document
from lib.common.program import ToolError

SUFFIX: Final = ".provenance.json"
"""What the name of a statement has behind the name of its distribution."""
PAYLOAD_TYPE: Final = "application/vnd.in-toto+json"
STATEMENT_TYPE: Final = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE: Final = "https://slsa.dev/provenance/v1"
BUILD_TYPE: Final = "https://github.com/OWNER/rules_rocm_python/blob/main/docs/release/provenance.md#build-type-1"
BUILDER: Final = "https://github.com/OWNER/rules_rocm_python/blob/main/docs/release/provenance.md#publish"
#: Names of digests: of a file, of an artifact (`tools.actions.material`), and of a commit, as in-toto names it.
FILE: Final = "sha256"
TREE: Final = "artifactManifest"
COMMIT: Final = "gitCommit"


@dataclass(frozen=True)
class Material:
    """Something that a distribution was built from: an artifact, a file, a program, the rules, the interpreter.

    It is a ResourceDescriptor of in-toto.
    """

    sparse: ClassVar = True
    name: str
    digest: Mapping[str, str] = field(default_factory=dict)
    """Algorithm -> digest in hex. Two materials are equal if a digest that both have is."""
    uri: str = ""

    def equals(self, other: Self) -> bool:
        """Whether both have the same content, as far as their digests say."""
        common = self.digest.keys() & other.digest.keys()
        return self.uri == other.uri and (
            any(self.digest[one] == other.digest[one] for one in common) if common else self.digest == other.digest
        )

    @property
    def shown(self) -> str:
        """Its content, for messages."""
        return ", ".join([self.uri] * bool(self.uri) + [f"{kind} {one}" for kind, one in sorted(self.digest.items())])


@dataclass(frozen=True)
class Statement:
    """A distribution, and everything that decides its bytes."""

    filename: str
    sha256: str
    """Of the distribution, in hex."""
    distribution: str
    """Label of its target."""
    provenance: str
    """Label of the `sdk_provenance`, which builds it again together with its statement."""
    settings: Mapping[str, str]
    """Build settings that its bytes depend on, by their labels."""
    environment: Mapping[str, str]
    """Variables that repositories read, and SOURCE_DATE_EPOCH."""
    materials: tuple[Material, ...]
    """Sorted by name; names are unique."""
    artifacts_variable: str = ""
    """The variable that names the directory of artifacts, if there is one."""

    def document(self) -> dict[str, Any]:
        """Return the Statement of in-toto."""
        parameters = {
            "artifactsVariable": self.artifacts_variable,
            "distribution": self.distribution,
            "environment": dict(sorted(self.environment.items())),
            "provenance": self.provenance,
            "settings": dict(sorted(self.settings.items())),
        }
        definition = {
            "buildType": BUILD_TYPE,
            "externalParameters": parameters,
            "internalParameters": {},
            "resolvedDependencies": to_document(tuple[Material, ...], self.materials),
        }
        return {
            "_type": STATEMENT_TYPE,
            "subject": [{"name": self.filename, "digest": {FILE: self.sha256}}],
            "predicateType": PREDICATE_TYPE,
            "predicate": {"buildDefinition": definition, "runDetails": {"builder": {"id": BUILDER}}},
        }


def unique_materials(materials: Iterable[Material]) -> tuple[Material, ...]:
    """Return materials sorted by name, each once. Raises ToolError for two that differ and have one name."""
    found: dict[str, Material] = {}
    for one in materials:
        other = found.setdefault(one.name, one)
        if other != one:
            raise ToolError(
                f"{one.name}: is a material twice, as {other.shown} and as {one.shown}; expected one material of a "
                "name. Rename one of them"
            )
    return tuple(found[name] for name in sorted(found))


def parse_statement(content: bytes, where: str) -> Statement:
    """Read a statement. Raises ToolError, which names `where` it is, for another document or build type."""
    try:
        document = json.loads(content)
        (subject,) = document["subject"]
        types = document["_type"], document["predicateType"], document["predicate"]["buildDefinition"]["buildType"]
        if types != (STATEMENT_TYPE, PREDICATE_TYPE, BUILD_TYPE):
            raise ValueError(f"has the types {types}")
        definition = document["predicate"]["buildDefinition"]
        given = definition["externalParameters"]
        labels = [given["distribution"], given["provenance"], *given["settings"]]
        if wrong := [one for one in labels if not one.startswith(("//", "@"))]:
            raise ValueError(f"{wrong[0]} is no label")  # It would be an option of Bazel.
        return Statement(
            subject["name"],
            subject["digest"][FILE],
            given["distribution"],
            given["provenance"],
            dict(given["settings"]),
            dict(given["environment"]),
            from_document(tuple[Material, ...], definition["resolvedDependencies"]),
            given["artifactsVariable"],
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ToolError(
            f"{where}: is not a statement of these rules: {error!r}; expected the {SUFFIX.lstrip('.')} of a "
            "distribution. Build it with sdk_provenance"
        ) from None
