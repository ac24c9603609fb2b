"""The coverage table as text, for a terminal: a row for each library, a column for each GPU target."""

from collections.abc import Iterator

from tools.actions.coverage.lacks import processors
from tools.actions.coverage.table import Coverage
from tools.lib.device.target_id import can_load, parse_target_id

PLAIN, FEATURES, NONE = "x", "f", "."
LEGEND = f"{PLAIN}: has code   {FEATURES}: only with features, such as gfx90a:xnack+   {NONE}: has none"
_PREFIX = "gfx"


def codes_for(coverage: Coverage, library: str, processor: str) -> tuple[str, ...]:
    """Return the target IDs of a library's code that GPUs with the processor can load."""
    target = parse_target_id(processor)
    return tuple(code for code in coverage.libraries[library] if can_load(parse_target_id(code), target))


def mark(codes: tuple[str, ...]) -> str:
    """Return what stands for the code that a library has for one processor."""
    if not codes:
        return NONE
    return PLAIN if any(not parse_target_id(code).features for code in codes) else FEATURES


def text_table(coverage: Coverage) -> str:
    """Return the table."""
    return "\n".join(_lines(coverage)) + "\n"


def _lines(coverage: Coverage) -> Iterator[str]:
    if not coverage.libraries:
        yield "No library has device code."
        return
    columns = processors(coverage)
    names = [column.removeprefix(_PREFIX) for column in columns]
    width = max(len(library) for library in coverage.libraries)
    yield " ".join([f"{_PREFIX:>{width}}", *names])
    for library in coverage.libraries:
        marks = [mark(codes_for(coverage, library, column)) for column in columns]
        cells = [f"{cell:>{len(name)}}" for cell, name in zip(marks, names, strict=True)]
        yield " ".join([f"{library:<{width}}", *cells])
    yield ""
    yield LEGEND
