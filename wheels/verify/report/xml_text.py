"""Text that XML can hold: names of files, and what programs print, may have anything in them."""

import re
from typing import Final

#: What XML 1.0 cannot hold ("Characters").
_FORBIDDEN: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def clean(text: str) -> str:
    """Replace what XML cannot hold."""
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)
