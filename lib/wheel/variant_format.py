"""The format of wheel variants, all of it. It follows drafts, which may change: nothing else here knows them.

PEP 825 says how a variant is packaged: a label at the end of the file name, `variant.json` in the .dist-info directory,
and `{name}-{version}-variants.json` in the index. PEP 850 adds which program, the provider, tells what a machine
supports. (Both were parts of PEP 817.) Here the provider is AMD's rocm-bootstrap, and what a wheel says is
`amd :: gfx_arch :: gfx1100`: the machine has a GPU of this target. Of several values one is enough.

    labelled("cp312-cp312-linux_x86_64", "gfx1100")   # cp312-cp312-linux_x86_64-gfx1100, the end of the file name
    variant_json("gfx1100", ("gfx1100",))             # variant.json of that wheel
    index_json({"gfx1100": ("gfx1100",)}, None, "")   # what an index has beside it

    split_label("acme-1.0-py3-none-any-gfx1100.whl")  # ("acme-1.0-py3-none-any.whl", "gfx1100")

A wheel without label, or an sdist, is what installers see that know nothing of variants. For others it comes last, and
suits every machine. So nothing here makes a null variant, whose label is `null` and which stands for no property.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from packaging.utils import canonicalize_name
from packaging.version import Version

from lib.common.program import ToolError

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
#: The label of the variant without properties.
NULL: Final = "null"
_LABEL: Final = re.compile(r"[0-9a-z_.]+")

#: The values of a variant by namespace and feature.
Properties = Mapping[str, Mapping[str, Sequence[str]]]


def variant_label(label: str) -> str:
    """Return how a variant is called for a label of a group: only `0-9`, `a-z`, `_` and `.` are allowed."""
    return label.lower().replace("-", "_")


def labelled(tags: str, label: str) -> str:
    """Return the end of a wheel's file name with a variant's label."""
    return f"{tags}-{label}"


def check_label(label: str) -> None:
    """Raise ValueError, with what is expected, for what is no label of a variant."""
    if not _LABEL.fullmatch(label):
        raise ValueError(
            f"the variant label {label!r} is not valid; expected one or more of the characters 0-9, a-z, _ and ."
        )


def split_label(filename: str) -> tuple[str, str]:
    """Return a wheel's file name without the label, and the label; "" if there is none.

    A build tag begins with a digit, and a tag of Python with a letter. So six parts are never ambiguous.
    """
    parts = filename.removesuffix(".whl").split("-")
    has_build = len(parts) > 2 and parts[2][:1].isdigit()
    if not filename.endswith(".whl") or len(parts) != (7 if has_build else 6):
        return filename, ""
    return f"{'-'.join(parts[:-1])}.whl", parts[-1]


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


def merge_variants(files: Mapping[str, bytes]) -> bytes:
    """Return the index's file for the variants of a version, of the `variant.json` of each wheel, by its file name.

    Raises ToolError if a file does not fit its wheel's name, and for two that do not agree.
    """
    listed: dict[str, object] = {}
    rest: dict[str, object] = {}
    for filename, content in sorted(files.items()):
        label = split_label(filename)[1]
        try:
            variants = variants_in(content)
        except ValueError as error:
            raise ToolError(f"{filename}: {VARIANT_JSON}: {error}") from None
        if list(variants) != [label] or listed.setdefault(label, variants[label]) != variants[label]:
            raise ToolError(
                f"{filename}: {VARIANT_JSON} says {json.dumps(variants)}; expected the variant {label!r} alone, with "
                "the same properties in each wheel of this label. Correct the wheel's variant"
            )
        rest[filename] = {**json.loads(content), "variants": {}}
        first = next(iter(rest))
        if rest[filename] != rest[first]:
            raise ToolError(
                f"{filename}: {VARIANT_JSON} has other providers or priorities than in {first}; expected the same "
                "in all variants of a version. Make them with the same rules"
            )
    return _encoded({**json.loads(next(iter(files.values()))), "variants": listed})


def variants_in(content: bytes) -> Mapping[str, object]:
    """Return the properties of each label in a file of this format; raises ValueError with what is wrong with it."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"is not JSON: {error}") from None
    variants = found.get("variants") if isinstance(found, dict) else None
    if not isinstance(variants, dict):
        raise ValueError("has no object `variants`; expected one, with the properties of each label")
    priorities = found.get("default-priorities")
    ranked = priorities.get("namespace") if isinstance(priorities, dict) else None
    for label, properties in variants.items():
        check_label(label)
        for fault in _faults(label, properties, ranked if isinstance(ranked, list) else []):
            raise ValueError(f"{label}: {fault}")
    return variants


def _faults(label: str, properties: object, ranked: Sequence[object]) -> Iterator[str]:
    """Say what is wrong with the properties of a label, given the namespaces that the file ranks."""
    if not isinstance(properties, dict) or not all(isinstance(one, dict) and one for one in properties.values()):
        yield "has no properties by namespace and feature"
    elif any(not _is_values(values) for features in properties.values() for values in features.values()):
        yield "has a feature without values; expected a list of strings"
    elif bool(properties) == (label == NULL):
        yield "has properties; expected none" if properties else "has no properties; expected some, or the label `null`"
    elif missing := [namespace for namespace in properties if namespace not in ranked]:
        yield f"has properties of {missing[0]}, which `default-priorities` does not list"


def _is_values(values: object) -> bool:
    return isinstance(values, list) and bool(values) and all(isinstance(value, str) for value in values)


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
    return _encoded(content)


def _encoded(content: Mapping[str, object]) -> bytes:
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
            f"{where}: lists variants in another form than rocm-wheels split does; expected {DRAFT}, with the provider "
            f"{REQUIRES}. Write the wheels into another directory"
        )
    return variants
