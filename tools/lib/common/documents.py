"""JSON documents that actions hand to each other, written so that equal content is equal bytes."""

import json
from pathlib import Path
from typing import Any

from tools.lib.common.errors import ToolError


def read_document(path: str) -> Any:
    """Read a JSON file; raises ToolError with the file's name when it is not JSON."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise ToolError(f"{path}: expected a JSON document: {error}") from None


def write_document(path: str, document: Any) -> None:
    """Write a JSON file with one list element or field a line, so that people can read and diff it."""
    text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    Path(path).write_text(text, encoding="utf-8")
