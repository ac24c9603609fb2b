"""The format of wheel variants, all of it. It follows drafts, which may change: nothing else here knows them.

PEP 825 says how a variant is packaged: a label at the end of the file name, `variant.json` in the .dist-info directory,
and `{name}-{version}-variants.json` in the index. PEP 850 adds which program, the provider, tells what a machine
supports. (Both were parts of PEP 817.) Here the provider is AMD's rocm-bootstrap, and what a wheel says is
`amd :: gfx_arch :: gfx1100`: the machine has a GPU of this target. Of several values one is enough.

    labelled("cp312-cp312-linux_x86_64", "gfx1100")   # cp312-cp312-linux_x86_64-gfx1100, the end of the file name
    variant_json("gfx1100", ("gfx1100",))             # variant.json of that wheel
    index_json({"gfx1100": ("gfx1100",)}, None, "")   # what an index has beside it

A wheel without label is what installers see that know nothing of variants. For others it comes last, and suits every
machine. So no null variant is written, whose label is `null` and which would be the same wheel once more.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Final

from packaging.utils import canonicalize_name
from packaging.version import Version

from tools.lib.common.program import ToolError

#: The version of the drafts that is written.
DRAFT: Final = "drafts PEP 825 and PEP 850, format 0.2.0"
#: Its JSON schema, which every file names. Versions that begin with 0 are drafts, and not compatible with each other.
SCHEMA: Final = "https://variants-schema.wheelnext.dev/peps/850/v0.2.0.json"
#: The file of the .dist-info directory.
VARIANT_JSON: Final = "variant.json"
#: What follows name and version in the name of the index's file.
INDEX_SUFFIX: Final = "-variants.json"
#: A property is `NAMESPACE :: FEATURE :: value`. The provider reports, first GPU first, the owners of the targets.
NAMESPACE: Final = "amd"
FEATURE: Final = "gfx_arch"
#: What an installer installs to ask it, and the object in there that answers. 0.3 is the first that reports owners.
REQUIRES: Final = "rocm-bootstrap>=0.3"
PLUGIN_API: Final = "rocm_bootstrap.variant_provider:AMDVariantPlugin"

#: The values of a variant by namespace and feature.
Properties = Mapping[str, Mapping[str, Sequence[str]]]


def variant_label(label: str) -> str:
    """Return how a variant is called for a label of a group: only `0-9`, `a-z`, `_` and `.` are allowed."""
    return label.lower().replace("-", "_")


def labelled(tags: str, label: str) -> str:
    """Return the end of a wheel's file name with a variant's label."""
    return f"{tags}-{label}"


def index_name(distribution: str, version: Version) -> str:
    """Return the name of the index's file for all variants of a version; both parts are normalised as in wheels."""
    return f"{canonicalize_name(distribution).replace('-', '_')}-{version}{INDEX_SUFFIX}"


def variant_json(label: str, owners: Sequence[str]) -> bytes:
    """Return the file in a wheel for GPUs whose targets have these owners."""
    return _document({label: _properties(owners)})


def index_json(variants: Mapping[str, Sequence[str]], existing: bytes | None, where: str) -> bytes:
    """Return the index's file: owners of targets by label, and what the file that is there lists.

    Raises ToolError, which names `where`, if that is another file, or has a label for other GPUs.
    """
    listed: dict[str, object] = {label: _properties(owners) for label, owners in variants.items()}
    for label, properties in ({} if existing is None else _listed(existing, where)).items():
        if listed.setdefault(label, properties) != properties:
            raise ToolError(
                f"{where}: the variant {label} has other properties there: {json.dumps(properties)}; expected "
                f"{json.dumps(listed[label])}, as in the wheels to be written. Write these into another directory"
            )
    return _document(listed)


def _properties(owners: Sequence[str]) -> Properties:
    return {NAMESPACE: {FEATURE: sorted(owners)}}


def _document(variants: Mapping[str, object]) -> bytes:
    provider = {"plugin-api": PLUGIN_API, "requires": [REQUIRES]}
    content = {
        "$schema": SCHEMA,
        "default-priorities": {"namespace": [NAMESPACE]},
        "providers": {NAMESPACE: provider},
        "variants": variants,
    }
    return (json.dumps(content, indent=2, sort_keys=True) + "\n").encode()


def _listed(existing: bytes, where: str) -> dict[str, object]:
    """Return the variants of an index's file. Raises ToolError unless all else in it is as here."""
    try:
        found = json.loads(existing)
    except (ValueError, RecursionError):
        found = None
    variants = found.get("variants") if isinstance(found, dict) else None
    if not isinstance(variants, dict) or {**found, "variants": {}} != json.loads(_document({})):
        raise ToolError(
            f"{where}: lists variants in another form than split-wheel does; expected {DRAFT}, with the provider "
            f"{REQUIRES}. Write the wheels into another directory"
        )
    return variants
