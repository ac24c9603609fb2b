"""The links of development trees, which no wheel can have: manifests that list them.

`.devel_links/devel.json` beside the Python code of a devel package, and `.devel_links/DISTRIBUTION.json` in the tree of
a package that users choose by GPU target or CPU, are in the form that AMD's packages have.
`rules/runtime/devel_tree.py` makes the links.
"""

import json
import posixpath
from collections.abc import Iterator
from typing import Any

from lib.pack.packed_tree import PackedTree
from lib.plan.model import Plan, Treatment
from lib.wheel.metadata_writer import Project
from lib.wheel.wheel_writer import WheelMember, text_member

#: The directory of manifests, the one of a devel package, and the empty file through which the tree is changed.
LINKS = ".devel_links"
MANIFEST = f"{LINKS}/devel.json"
JOURNAL = f"{LINKS}/devel.journal"


def link_members(
    plan: Plan, tree: PackedTree, project: Project, devel: str, *, is_archive: bool
) -> Iterator[WheelMember]:
    """Yield the files about links. `devel` is the import name of a devel package, empty for another one."""
    if devel:
        links = {one.path: one.target for one in plan.entries if one.treatment is Treatment.LINK_TO and one.target}
        facts: dict[str, Any] = {"tree": plan.tree, "trees": list(plan.target_trees)}
        if is_archive:
            facts["files"] = sorted(tree.packed)
        yield _manifest(f"{devel}/{MANIFEST}", project.version, links, facts)
        yield text_member(f"{devel}/{JOURNAL}", b"")
    elif plan.per_target:
        # Forwarders serve programs at run time; a linker would take one for the library.
        paths = [one.path for one in plan.entries if one.is_packed_file and one.treatment is not Treatment.FORWARDER]
        links = {path: posixpath.relpath(f"{plan.tree}/{path}", posixpath.dirname(f"X/{path}")) for path in paths}
        yield _manifest(f"{plan.tree}/{LINKS}/{project.distribution}.json", project.version, links, {})


def _manifest(name: str, version: str, links: dict[str, str], facts: dict[str, Any]) -> WheelMember:
    listed = [{"relpath": path, "target": links[path]} for path in sorted(links)]
    return text_member(name, json.dumps({"version": version, **facts, "links": listed}, indent=1).encode() + b"\n")
