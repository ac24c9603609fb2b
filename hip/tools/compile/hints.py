"""What a message of clang means for a BUILD file, where clang cannot know it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Hint:
    """A message of clang, and what to do."""

    message: "re.Pattern[str]"
    #: `{}` stands for what the message's group matches.
    remedy: str


HINTS: Final = (
    Hint(
        re.compile(
            r"fatal error: '((?:cuda_\w+|cuda|cublas\w*|cudnn|cufft|curand\w*|cusolver\w+|cusparse|nccl|nvrtc)\.h)' "
            "file not found"
        ),
        "{} is a header of CUDA; expected HIP's, such as hip/hip_runtime.h. Convert the source with hipify-perl or "
        "hipify-clang",
    ),
    Hint(
        re.compile(r"undefined (?:hidden |protected )?symbol: (.+)"),
        "device code calls {}, which its source does not define; expected it in the same source. If another source "
        "defines it, set `relocatable = True` in the targets of both",
    ),
)


_MISSING: Final = re.compile(r"fatal error: '(([^'/]+)/[^']+)' file not found")


def hint(messages: str, headers: Mapping[str, str]) -> str:
    """Return what to do about the first message of clang that needs an explanation, empty if none does.

    `headers` has the label of the SDK's library for each directory of headers.
    """
    if (missing := _MISSING.search(messages)) and missing[2] in headers:
        return f"{missing[1]} is a header of the SDK; expected its library, {headers[missing[2]]}, in `deps`. Add it"
    for one in HINTS:
        if found := one.message.search(messages):
            return one.remedy.format(found[1])
    return ""
