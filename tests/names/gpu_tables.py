"""Writes the copies of AMD's table of GPU targets, for Python and for Starlark, and the cases of Starlark's tests.

    for path, text in written_files().items(): …   # paths below the workspace

rocm-bootstrap (PyPI) says which targets, features and families there are, and which package owns a target.
`built.json` has what it lacks: the targets and families that ROCm's own builds know, and so each target's kind.
"""

import json
from pathlib import Path
from typing import Any, Final

from rocm_bootstrap.package_metadata import package_owner
from rocm_bootstrap.targets import ALL_TARGETS, GfxTarget, packaging_chain

from lib.gpus.families import KINDS, overlap, parse_family

HERE: Final = Path(__file__).parent
#: Families that ROCm's builds know, though they are not in the list of targets: by rocm-bootstrap's name, and by the
#: nightly builds' name.
MORE_FAMILIES: Final = ("gfx125X", "gfx90X-dcgpu")
#: Of targets and families, which one table has, one of so many has its answers written down for Starlark's tests.
EACH: Final = 4
#: Other names with their answers: each form that a name has, and what is none.
MORE_NAMES: Final = (
    "gfx-all", "gfx9", "gfx9-all", "gfx12-all", "gfx9-0", "gfx9-4", "gfx12-5", "gfx12_5", "gfx115x", "gfx11XX",
    "gfx110X", "gfx94X", "gfx80X-all", "gfx803", "gfx940", "gfx941", "gfx90a:xnack+", "gfx9-4-generic", "gfx103X-none",
    "gfx103", "dcgpu-all", "dgpu-all", "all", "foo",
)  # fmt: skip

_NOTE: Final = "Written by `bazel run //tests/golden:update`: change tests/names/gpu_tables.py, not this."

_TABLE: Final = '''\
"""The GPU targets, by AMD's own table: rocm-bootstrap on PyPI.

{note}
"""

from typing import NamedTuple


class Target(NamedTuple):
    """A GPU target."""

    name: str
    kind: str
    """`dcgpu` (data centre), `dgpu` (discrete) or `igpu` (part of a processor)."""
    family: str
    sub_family: str
    owner: str
    """The target whose package holds its code."""
    xnack: str
    """`unsupported`, `supported` (off unless asked for) or `default_on`."""
    built: bool
    """Whether ROCm's own builds make code for it."""


TARGETS = (
{rows}
)
'''


def built() -> dict[str, Any]:
    """Return what is written down of ROCm's own builds."""
    document: dict[str, Any] = json.loads((HERE / "built.json").read_text(encoding="utf-8"))
    return document


def kind_of(target: GfxTarget, facts: dict[str, Any]) -> str:
    """Return the kind of a target. Raises KeyError if nothing is known of the target."""
    owner = package_owner(target.name)
    found = [kind for kind in KINDS[1:] if owner in facts["families"][f"{kind}-all"]]
    return found[0] if found else str(facts["kinds_of_others"][owner])


def table_text() -> str:
    """Return the text of `table.py`."""
    facts = built()
    made = {name for names in facts["families"].values() for name in names}
    rows = []
    for target in ALL_TARGETS:
        _, sub_family, family = packaging_chain(target)
        owner = package_owner(target.name)
        texts = (target.name, kind_of(target, facts), family.key, sub_family.key, owner, target.xnack.value)
        rows.append(f"    Target({', '.join(json.dumps(text) for text in texts)}, {target.name in made}),")
    return _TABLE.format(note=_NOTE, rows="\n".join(rows))


def family_members() -> dict[str, list[str]]:
    """Return the families of ROCm's builds, by name: for which of their targets there is code, in the table's order."""
    facts = built()
    made = {name for names in facts["families"].values() for name in names}
    families = {name: parse_family(name) for name in sorted((*facts["families"], *MORE_FAMILIES))}
    targets = [target.name for target in ALL_TARGETS if target.name in made]
    return {name: [one for one in targets if family and family.has(one)] for name, family in families.items()}


def starlark_table() -> str:
    """Return the text of `lib/gpus/gpu_table.bzl`."""
    facts = built()
    targets = "".join(
        f'    "{target.name}": struct(kind = "{kind_of(target, facts)}", owner = "{package_owner(target.name)}"),\n'
        for target in ALL_TARGETS
    )
    families = "".join(f'    "{name}": {json.dumps(members)},\n' for name, members in family_members().items())
    return (
        f'"""The GPU targets and families of ROCm\'s builds, by AMD\'s own tables.\n\n{_NOTE}\n"""\n\n'
        'visibility(["//..."])\n\n'
        "# Target -> its kind, and the target whose package holds its code.\n"
        f"TARGETS = {{\n{targets}}}\n\n"
        "# Family -> its targets that ROCm's builds make code for.\n"
        f"FAMILIES = {{\n{families}}}\n"
    )


def starlark_cases() -> str:
    """Return the text of `gpu_cases.bzl` beside this: the library's answers, for the tests of Starlark's own."""
    known = [*(target.name for target in ALL_TARGETS), *family_members()]
    names = sorted({*known[::EACH], *MORE_NAMES})
    cases = "".join(f'    "{one}": {json.dumps([other for other in names if overlap(one, other)])},\n' for one in names)
    return (
        f'"""Lists which names of GPU targets and families have a GPU in common.\n\n{_NOTE}\n"""\n\n'
        'visibility(["//tests/analysis"])\n\n'
        f"OVERLAPS = {{\n{cases}}}\n"
    )


def written_files() -> dict[str, str]:
    """Return the texts of all files that are written from AMD's table, by their path in the workspace."""
    return {
        "lib/gpus/table.py": table_text(),
        "lib/gpus/gpu_table.bzl": starlark_table(),
        "tests/names/gpu_cases.bzl": starlark_cases(),
    }
