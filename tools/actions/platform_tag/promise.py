"""What a platform tag promises: an architecture and, if it is a manylinux tag, a policy.

A set of tags (PEP 425, joined by dots) promises all that each of them does.
"""

import re
from dataclasses import dataclass

from tools.actions.platform_tag.policy import MACHINES, Policy, manylinux_policies
from tools.lib.common.errors import ToolError

_LEGACY = "|".join(("manylinux1", "manylinux2010", "manylinux2014"))
_TAG = re.compile(rf"(?P<system>linux|manylinux_2_(?P<minor>\d+)|{_LEGACY})_(?P<architecture>\w+)")


@dataclass(frozen=True)
class Promise:
    """What one platform tag says."""

    tag: str
    architecture: str
    #: None: nothing but the architecture.
    policy: Policy | None


def _policy(match: re.Match[str]) -> Policy | None:
    """Return the policy of a tag; between two of them (2_32), the older one: of what came since nothing is known."""
    policies = manylinux_policies(match["architecture"])
    if match["minor"]:
        kept = [policy for policy in policies if policy.minor <= int(match["minor"])]
        return kept[-1] if kept else None
    return next((policy for policy in policies if match["system"] in policy.aliases), None)


def promises(platform_tag: str) -> list[Promise]:
    """Return what each platform tag of a set promises. Raises ToolError for one that nothing is known about."""
    found = []
    for tag in platform_tag.split("."):
        match = _TAG.fullmatch(tag)
        policy = _policy(match) if match else None
        if not match or match["architecture"] not in MACHINES or (match["system"] != "linux" and not policy):
            raise ToolError(
                f"platform tag {tag!r}: no such tag is known for ELF files; expected linux_ARCH or "
                f"manylinux_2_N_ARCH, ARCH being one of {', '.join(MACHINES)}"
            )
        found.append(Promise(tag, match["architecture"], policy))
    return found
