"""Writes the bill of materials of a wheel (PEP 770): which artifacts it is made from, with their hashes.

CycloneDX JSON, by its reference implementation. That takes longer to import than all else here to do, so it has an
action of its own beside link.

The main component is the distribution; it depends on the artifacts that it is made from, and on the distributions that
it requires. All that could vary is fixed: references are names, the serial number follows from the content, and the
time is the same as in archives.
"""

import hashlib
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cyclonedx.model import ExternalReference, ExternalReferenceType, HashAlgorithm, HashType, Property, XsUri
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.contact import OrganizationalEntity
from cyclonedx.model.dependency import Dependency
from cyclonedx.model.license import LicenseAcknowledgement, LicenseExpression
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL
from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from packaging.requirements import Requirement

from lib.common.arguments import run_program
from lib.common.program import ToolError, archive_time, read_document
from lib.pack.segment import Packed, SegmentIndex
from lib.plan.model import Plan
from lib.wheel.metadata_writer import Project
from tools.actions.link.tool import license_paths

# Where artifacts come from, as the packages' authors say it: a JSON file, by the name of the artifact.
#
#     {"core-hip": {"version": "{version}", "purl": "pkg:github/rocm/clr@{version}", "supplier": "AMD"}}
#
# It says so for all components and targets of the artifact. `{version}` stands for the version of the distribution.


@dataclass(frozen=True)
class Origin:
    """Origin of an artifact; a field is None if it is not known."""

    version: str | None = None
    #: Package URL (ECMA-427).
    purl: str | None = None
    #: Name of the organization that supplies it.
    supplier: str | None = None
    #: SPDX expression.
    license: str | None = None


def read_origins(path: str, version: str) -> dict[str, Origin]:
    """Read the file for a distribution of that version; raises ToolError, naming the artifact, for what is wrong."""
    document = read_document(path)
    if not isinstance(document, dict):
        raise ToolError(f"{path}: expected an object, by the names of artifacts. Correct it")
    return {name: _origin(f"{path}: {name}", values, version) for name, values in sorted(document.items())}


def _origin(where: str, values: Any, version: str) -> Origin:
    known = [field.name for field in fields(Origin)]
    if not isinstance(values, dict) or set(values) - set(known) or not all(isinstance(v, str) for v in values.values()):
        raise ToolError(f"{where}: {values!r}; expected an object of strings, with {', '.join(known)}. Correct it")
    origin = Origin(**{name: text.replace("{version}", version) for name, text in values.items()})
    try:
        if origin.purl:
            PackageURL.from_string(origin.purl)
        if origin.license:
            canonicalize_license_expression(origin.license)
    except InvalidLicenseExpression:
        raise ToolError(f"{where}: license is {origin.license!r}; expected an SPDX expression. Correct it") from None
    except ValueError as error:
        raise ToolError(f"{where}: purl is {origin.purl!r}: {error}; expected a package URL. Correct it") from None
    return origin


# What a package holds of each artifact: how much, its digest, its licence texts.
#
# An artifact comes as a folder, and its libraries are patched on the way into the package. So the digest is one over
# what the package holds of it: the SHA-256 of the text that `sha256sum` prints for these files, sorted by path, each
# path relative to the package's tree. The same can be made of an installed package, or of its RECORD.


@dataclass(frozen=True)
class Contents:
    """Files of one artifact in a package."""

    #: `{name}_{component}_{target}`.
    artifact: str
    #: How many files, and their bytes.
    files: int
    size: int
    #: Digest over the files, in hex.
    sha256: str
    #: Paths of its licence texts, in the package's tree.
    licenses: tuple[str, ...] = ()


def digest(packed: Iterable[Packed]) -> str:
    """Return the SHA-256 over the lines `{SHA-256}  {path}` of files, sorted by path, in hex."""
    lines = (f"{one.sha256}  {one.path}\n" for one in sorted(packed, key=lambda one: one.path))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def contents(plan: Plan, packed: dict[str, Packed], patterns: tuple[str, ...]) -> list[Contents]:
    """Return what a package holds of each artifact, sorted by name; artifacts that it holds nothing of are left out.

    `packed` has the packed files by path, `patterns` say which are licence texts.
    """
    texts = license_paths(plan, patterns)
    by_artifact: dict[str, list[Packed]] = {}
    for entry in plan.entries:
        if entry.is_packed_file:
            by_artifact.setdefault(entry.source.split("/")[0], []).append(packed[entry.path])
    return [
        Contents(
            artifact=artifact,
            files=len(files),
            size=sum(one.size for one in files),
            sha256=digest(files),
            licenses=tuple(one.path for one in files if one.path in texts),
        )
        for artifact, files in sorted(by_artifact.items())
    ]


#: What made the document, and the namespace of its properties.
GENERATOR = "rules_rocm_python"
#: Labels of project URLs (PEP 753) that CycloneDX has a type for; all others are websites.
_REFERENCES = {
    "documentation": ExternalReferenceType.DOCUMENTATION,
    "issues": ExternalReferenceType.ISSUE_TRACKER,
    "source": ExternalReferenceType.VCS,
}


def _purl(distribution: str, version: str | None) -> PackageURL:
    return PackageURL("pypi", name=distribution.lower().replace("_", "-"), version=version)


def _properties(values: dict[str, object]) -> list[Property]:
    return [Property(name=f"{GENERATOR}:{name}", value=str(value)) for name, value in values.items()]


def _license(expression: str) -> LicenseExpression:
    return LicenseExpression(expression, acknowledgement=LicenseAcknowledgement.DECLARED)


def distribution_component(project: Project) -> Component:
    """Return the component for the distribution that the document is about."""
    purl = _purl(project.distribution, project.version)
    return Component(
        type=ComponentType.LIBRARY,
        bom_ref=str(purl),
        name=project.distribution,
        version=project.version,
        description=project.summary,
        purl=purl,
        licenses=[_license(project.license_expression)],
        external_references=[
            ExternalReference(type=_REFERENCES.get(label.lower(), ExternalReferenceType.WEBSITE), url=XsUri(url))
            for label, url in project.urls
        ],
    )


def artifact_component(contents: Contents, archive: str | None, origins: Mapping[str, Origin]) -> Component:
    """Return the component for an artifact; `archive` is the SHA-256 of the archive that it came as, if it is known.

    `origins` are by the artifact's name.
    """
    name, component, target = contents.artifact.rsplit("_", 2)
    values: dict[str, object] = {"artifact:name": name, "artifact:component": component, "artifact:target": target}
    values |= {"artifact:files": contents.files, "artifact:bytes": contents.size}
    values |= {"artifact:packed-sha256": contents.sha256, "artifact:hash-of": "archive" if archive else "packed files"}
    licenses = [Property(name=f"{GENERATOR}:artifact:license-file", value=path) for path in contents.licenses]
    origin = origins.get(name, Origin())
    return Component(
        type=ComponentType.LIBRARY,
        bom_ref=f"artifact:{contents.artifact}",
        name=contents.artifact,
        version=origin.version,
        purl=PackageURL.from_string(origin.purl) if origin.purl else None,
        supplier=OrganizationalEntity(name=origin.supplier) if origin.supplier else None,
        licenses=[_license(origin.license)] if origin.license else (),
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=archive or contents.sha256)],
        properties=[*_properties(values), *licenses],
    )


def required_component(text: str) -> Component:
    """Return the component for a distribution that is required (PEP 508)."""
    requirement = Requirement(text)
    pins = [one.version for one in requirement.specifier if one.operator == "==" and "*" not in one.version]
    version = pins[0] if len(pins) == 1 else None
    purl = _purl(requirement.name, version)
    return Component(type=ComponentType.LIBRARY, bom_ref=str(purl), name=requirement.name, version=version, purl=purl)


def document(
    project: Project, contents: list[Contents], archives: Mapping[str, str], origins: Mapping[str, Origin], seconds: int
) -> str:
    """Return the document as JSON text.

    `archives` maps artifacts to SHA-256, `origins` the names of artifacts to where they come from. `seconds` is the
    document's time since 1970.
    """
    main = distribution_component(project)
    artifacts = [artifact_component(one, archives.get(one.artifact), origins) for one in contents]
    required = [required_component(requirement) for requirement in project.requires]
    metadata = BomMetaData(component=main, timestamp=datetime.fromtimestamp(seconds, UTC))
    metadata.tools.components.add(Component(type=ComponentType.APPLICATION, bom_ref=GENERATOR, name=GENERATOR))
    parts = [*artifacts, *required]
    identity = "\n".join([main.bom_ref.value or "", *(f"{one.sha256} {one.artifact}" for one in contents)])
    bom = Bom(
        serial_number=uuid.uuid5(uuid.NAMESPACE_URL, identity),
        metadata=metadata,
        components=parts,
        dependencies=[
            Dependency(main.bom_ref, [Dependency(part.bom_ref) for part in parts]),
            *(Dependency(part.bom_ref) for part in parts),
        ],
    )
    return JsonV1Dot6(bom).output_as_string(indent=1) + "\n"


@dataclass(frozen=True)
class Arguments:
    """Arguments from the rule. A `str` is the path of a file, unless its comment says otherwise."""

    label: str
    project: str  #: The distribution's metadata.
    plan: str
    index: list[str]  #: Indexes of units' segments.
    license_pattern: list[str]  #: Glob patterns of paths of licence texts.
    archive: dict[str, str]  #: SHA-256 of the archives that artifacts came as, by artifact.
    origins: str | None  #: Where artifacts come from, by their names.
    output: str  #: Document to write.


def write(args: Arguments) -> None:
    """Write the document."""
    plan = Plan.from_document(read_document(args.plan))
    packed = {
        entry.path: entry for path in args.index for entry in SegmentIndex.from_document(read_document(path)).entries
    }
    project = Project.from_document(read_document(args.project))
    found = contents(plan, packed, tuple(args.license_pattern))
    origins = read_origins(args.origins, project.version) if args.origins else {}
    text = document(project, found, args.archive, origins, archive_time())
    Path(args.output).write_text(text, encoding="utf-8")


def main(argv: list[str]) -> int:
    """Write the document."""
    return run_program(Arguments, argv, write)
