"""A release as an entry of a registry of Bazel modules: of the templates in .bcr, as publish-to-bcr makes it.

An entry has the format of Bazel's registries, and the metadata of the Bazel Central Registry.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from lib.common.program import ToolError

#: What stands for the owner of the repository in metadata.template.json, which publish-to-bcr copies as it is.
OWNER = "OWNER"


@dataclass(frozen=True)
class Templates:
    """The texts of the files in .bcr, and of MODULE.bazel."""

    metadata: str
    source: str
    presubmit: str
    module: str


@dataclass(frozen=True)
class Release:
    """Values for the templates."""

    name: str
    version: str
    #: Whose repository it is, as in `github:{owner}/{name}`.
    owner: str
    #: The archive's digest, as Subresource Integrity writes it: `sha256-` and base64.
    integrity: str
    #: Where the archive is instead of where source.template.json says; empty if it is there.
    url: str = ""

    @property
    def tag(self) -> str:
        """The tag of the commit, which is part of addresses."""
        return f"v{self.version}"


def source(template: str, release: Release) -> str:
    """Return source.json: where the archive is, and what its digest is."""
    filled = {"OWNER": release.owner, "REPO": release.name, "TAG": release.tag, "VERSION": release.version}
    for key, value in filled.items():
        template = template.replace(f"{{{key}}}", value)
    found = json.loads(template) | {"integrity": release.integrity}
    if release.url:
        found["url"] = release.url
    return json.dumps(found, indent=4) + "\n"


def metadata(template: str, release: Release, before: str = "") -> str:
    """Return metadata.json, with the versions of the one before, if there is one, and the new one behind them."""
    found = json.loads(template.replace(OWNER, release.owner))
    versions = json.loads(before)["versions"] if before else []
    if release.version in versions:
        raise ToolError(
            f"{release.name} {release.version} is in this registry already; expected a new version, because what is "
            "published never changes. Set another version in MODULE.bazel, or remove the entry from a registry of yours"
        )
    return json.dumps(found | {"versions": [*versions, release.version]}, indent=4) + "\n"


def add_entry(registry: Path, templates: Templates, release: Release) -> Path:
    """Add the release to a registry in a directory; return the folder of the new version."""
    module = registry / "modules" / release.name
    listed = module / "metadata.json"
    before = listed.read_text(encoding="utf-8") if listed.exists() else ""
    files = {
        listed: metadata(templates.metadata, release, before),
        module / release.version / "MODULE.bazel": templates.module,
        module / release.version / "presubmit.yml": templates.presubmit,
        module / release.version / "source.json": source(templates.source, release),
    }
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return module / release.version
