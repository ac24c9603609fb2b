"""What registries take: the largest layer, as their documentation says. Uploads of larger ones fail late."""

import re
from typing import Final

from lib.common.program import ToolError, size_text
from wheels.push.images import LocalImage

_MIB, _GIB, _GB = 1 << 20, 1 << 30, 10**9
#: A pattern for hosts -> the largest layer, in bytes.
LIMITS: Final = {
    r"ghcr\.io": 10 * _GB,
    r"public\.ecr\.aws": 10_000 * _MIB,
    r".*\.dkr\.ecr\..*\.amazonaws\.com(\.cn)?": 52_000 * _MIB,
    r".*\.azurecr\.io": 200 * _GIB,
    r"quay\.io": 20 * _GB,
}
#: Docker before version 29 takes no image with more.
MOST_LAYERS: Final = 127


def check_limits(image: LocalImage, host: str) -> None:
    """Raise ToolError for an image that a registry would refuse; `host` may have a port."""
    if len(image.layers) > MOST_LAYERS:
        raise ToolError(
            f"{image.tag}: has {len(image.layers)} layers; expected at most {MOST_LAYERS}, because older engines "
            "take no more. Base it on an image with fewer"
        )
    limit = next((limit for pattern, limit in LIMITS.items() if re.fullmatch(pattern, host.partition(":")[0])), None)
    for layer in image.layers:
        if limit is not None and layer.size > limit:
            raise ToolError(
                f"{image.tag}: layer {layer.digest} has {size_text(layer.size)}; expected at most "
                f"{size_text(limit)}, the limit of {host}. Make packages for fewer GPU targets each, or push to "
                "another registry"
            )
