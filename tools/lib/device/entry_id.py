"""Bundle entry IDs: the runtime, the machine and the processor that an entry of an offload bundle is for.

    parse_entry_id("hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+").target  # TargetId gfx90a:xnack+

The syntax is that of clang's documentation of the offload bundler ("Bundle Entry ID"): KIND-TRIPLE[-TARGET]. The
triple has three or four parts, the last of which may be empty.
"""

import re
from dataclasses import dataclass

from tools.lib.device.processors import SPIRV
from tools.lib.device.target_id import TargetId, parse_target_id

_TEXT = re.compile(r"[0-9A-Za-z_.:+-]+", re.ASCII)
#: How the fourth part begins when it is not the triple's environment but a target (AMD's, SPIR-V, NVIDIA's).
_TARGET_PREFIXES = ("gfx", SPIRV, "sm_")


@dataclass(frozen=True, slots=True)
class EntryId:
    """A parsed entry ID; `text` is how it stands in the bundle.

    `kind` is the runtime: `host`, `hip` (before code object V4, and SPIR-V), `hipv4`, `openmp`. `target` is None for
    the host, and where the triple says it all. The target of another maker's machine is in `text` alone.
    """

    text: str
    kind: str
    triple: str
    target: TargetId | None = None

    @property
    def is_host(self) -> bool:
        """Whether this stands for the program itself, whose code is not in the bundle."""
        return self.kind == "host"


def parse_entry_id(text: str) -> EntryId:
    """Parse an entry ID. Raises ValueError, whose message says what was expected."""
    kind, *parts = text.split("-", 4)
    if not _TEXT.fullmatch(text) or not kind or len(parts) < 3:
        raise ValueError(f"entry ID {text!r}: expected KIND-TRIPLE-TARGET, such as hipv4-amdgcn-amd-amdhsa--gfx1030")
    environment, _, target = "-".join(parts[3:]).partition("-")
    if environment.startswith(_TARGET_PREFIXES):
        environment, target = "", "-".join(parts[3:])
    triple = "-".join((*parts[:3], environment)).removesuffix("-")
    is_amd = parts[1] == "amd" and parts[0].startswith(("amdgcn", "amdgpu", "spirv"))
    return EntryId(text, kind, triple, parse_target_id(target) if target and is_amd else None)
