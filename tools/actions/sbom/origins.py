"""Where artifacts come from, as the packages' authors say it: a JSON file, by the name of the artifact.

    {"core-hip": {"version": "{version}", "purl": "pkg:github/rocm/clr@{version}", "supplier": "AMD", "license": "MIT"}}

It says so for all components and targets of the artifact. `{version}` stands for the version of the distribution.
"""

from dataclasses import dataclass, fields
from typing import Any

from packageurl import PackageURL
from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from lib.common.program import ToolError, read_document


@dataclass(frozen=True)
class Origin:
    """What is known of an artifact; None for what is not."""

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
