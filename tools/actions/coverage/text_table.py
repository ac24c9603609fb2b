"""The coverage table as text: a row for each library, a column for each target."""

from collections.abc import Iterator

from lib.coverage.table import Coverage, processors
from lib.gpus.architectures import loads
from lib.gpus.families import without_features

PLAIN, FEATURES, NONE = "x", "f", "."
LEGEND = {
    PLAIN: "has code",
    FEATURES: "only with features, such as gfx90a:xnack+",
    NONE: "has none",
}
_PREFIX = "gfx"


def mark(coverage: Coverage, library: str, processor: str) -> str:
    """Return what stands for the code that a library has for GPUs with one processor."""
    codes = [code for code in coverage.libraries[library] if loads(code, processor)]
    if not codes:
        return NONE
    return PLAIN if any(code == without_features(code) for code in codes) else FEATURES


def text_table(coverage: Coverage) -> str:
    """Return the table."""
    return "\n".join(_lines(coverage)) + "\n"


def _lines(coverage: Coverage) -> Iterator[str]:
    if not coverage.libraries:
        yield "No library has device code."
        return
    columns = processors(coverage)
    prefix = _PREFIX if all(column.startswith(_PREFIX) for column in columns) else ""
    names = [column.removeprefix(prefix) for column in columns]
    width = max(len(library) for library in coverage.libraries)
    yield " ".join([f"{prefix:>{width}}", *names])
    used = set()
    for library in coverage.libraries:
        marks = [mark(coverage, library, column) for column in columns]
        used.update(marks)
        cells = [f"{cell:>{len(name)}}" for cell, name in zip(marks, names, strict=True)]
        yield " ".join([f"{library:<{width}}", *cells])
    yield ""
    yield "   ".join(f"{one}: {meaning}" for one, meaning in LEGEND.items() if one in used)
