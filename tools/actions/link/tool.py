"""Links a wheel out of a plan, the segments of its units, and small files.

In paths of small files, `{dist_info}` stands for the dist-info directory, and `{tree}` for the package's tree. Bulk
bytes are copied from the segments as they are; nothing is deflated again.

The links of development trees, which no wheel can have, are listed in `.devel_links/devel.json` beside the Python code
of a devel package, and in `.devel_links/DISTRIBUTION.json` in the tree of a package that users choose by GPU target or
CPU. They are in the form that AMD's packages have. `rules/runtime/devel_tree.py` makes the links.
"""

import json
import posixpath
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from lib.common.arguments import run_program
from lib.common.digest import Digest
from lib.common.program import ToolError, named, note, read_document
from lib.pack.packed_tree import IN_TREE, PackedTree, add_to_tree, read_tree, tar_runs
from lib.plan.model import Plan, Treatment, is_executable, matches
from lib.wheel.deflated_run import join
from lib.wheel.metadata_writer import Project, check_requirements, core_metadata, entry_points_text, wheel_text
from lib.wheel.wheel_writer import WheelMember, joined_member, text_member, write_wheel
from tools.actions.platform_tag.needs import TagReport

# Python packages inside a tree that users import: a path configuration file tells Python where they are.
#
# https://docs.python.org/3/library/site.html: each line of `NAME.pth` in site-packages is a directory, relative to
# it, that is searched after site-packages itself. So a package of that name that a user installs is found first, and
# stays.

# Lists that say what a wheel offers of its package's tree, as far as that is there: JSON, one object each.


def listed_rows(path: str, key: str, attribute: str) -> list[dict[str, Any]]:
    """Read a list of objects with `key`, a name that no other has, and `path`, a place in the tree.

    Raises ToolError for anything else; `attribute` is the attribute of `sdk_wheel` that names the file.
    """
    rows = read_document(path)
    is_list = isinstance(rows, list) and all(
        isinstance(row, dict) and all(isinstance(row.get(name), str) for name in (key, "path")) for row in rows
    )
    if not is_list or len({row[key] for row in rows}) != len(rows):
        raise ToolError(
            f"{path}: expected a JSON list of objects with a `{key}` of a name of its own, and its `path`. Correct "
            f"the file that `{attribute}` names"
        )
    return list(rows)


def note_missing(label: str, what: str, path: str, key: str, rows: Iterable[dict[str, Any]]) -> None:
    """Say which rows of a list are left out, because the package does not ship what they name.

    Rows that are `optional` are left out without a message: one list serves several versions of an SDK, or parts of it.
    """
    if missing := [f"{row[key]} ({row['path']})" for row in rows if not row.get("optional")]:
        note(
            label,
            f"{len(missing)} {what} of {path} are left out, because the package does not ship them: {named(missing)}. "
            'Correct the paths, or add `"optional": true` to what an SDK need not have',
        )


def shipped_packages(listed: str, plan: Plan, label: str) -> list[dict[str, Any]]:
    """Return the rows of a list of Python packages that the tree has; the others it says in a note."""
    rows = listed_rows(listed, "package", "python_packages")
    files = {entry.path for entry in plan.entries if entry.is_packed_file}
    found = [row for row in rows if f"{row['path']}/{row['package']}/__init__.py" in files]
    note_missing(label, "Python packages", listed, "package", [row for row in rows if row not in found])
    return found


def requirements(rows: Iterable[dict[str, Any]], distribution: str) -> tuple[str, ...]:
    """Return what the Python packages require, each once. Raises ToolError unless each is a list of PEP 508's."""
    lists = [row.get("requires", []) for row in rows]
    if not all(isinstance(one, list) and all(isinstance(name, str) for name in one) for one in lists):
        raise ToolError(
            f"{distribution}: python_packages: expected `requires` to be a list of requirements. Correct it"
        )
    found = [requirement for one in lists for requirement in one]
    check_requirements(tuple(found), distribution)
    return tuple(dict.fromkeys(found))


def path_file(rows: Iterable[dict[str, Any]], tree: str, import_name: str) -> list[WheelMember]:
    """Return the path configuration file for Python packages of a tree; none without any."""
    lines = dict.fromkeys(f"{tree}/{row['path']}\n" for row in rows)
    return [text_member(f"{import_name}.pth", "".join(lines).encode())] if lines else []


#: What no License-File may hold (PEP 639: no glob, no parent, `/` alone divides); such a text is in the tree alone.
_REFUSED = ("*", "..", "\\")


def license_paths(plan: Plan, patterns: tuple[str, ...]) -> list[str]:
    """Return the paths of a package's licence texts in its tree, sorted: packed files that match one of `patterns`.

    Licence texts of artifacts stay in the tree, where ROCm's tools and people look for them. PEP 639 requires them
    beside the metadata, too: there installers and licence scanners find them, also those in the archive of a devel
    package.
    """
    paths = (entry.path for entry in plan.entries if entry.is_packed_file)
    return sorted(path for path in paths if matches(path, patterns) and not any(part in path for part in _REFUSED))


#: The value of `devel` for files in the wheel.
NO_ARCHIVE = "none"
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


@dataclass(frozen=True)
class Arguments:
    """Arguments from the rule. A `str` is the path of a file, unless its comment says otherwise."""

    label: str
    project: str  #: The distribution's metadata.
    plan: str
    platform_tag: str  #: Report about the wheel's platform tag.
    index: list[str]  #: Indexes of units' segments.
    segment: list[str]  #: The segments, in their order.
    description: str  #: The long description, in Markdown.
    tag: str  #: Tag of the wheel, python-abi-platform.
    license_pattern: list[str]  #: Glob patterns: which paths of artifacts are licence texts.
    devel: Literal["none", "tar"] | None  #: Of a devel package: what archive has the tree's files.
    #: JSON list of scripts, which the `_cli` of the Python package runs, and their tools' paths.
    console_scripts: str | None
    python_packages: str | None  #: JSON list of Python packages in the tree, and the directories above.
    wheel: str  #: Wheel to write.
    metadata: str  #: Core metadata to write, as PEP 658 serves it.
    digest: str  #: JSON file to write: filename, size, SHA-256.
    file: dict[str, str]  #: Small files by their paths in the wheel, see above.
    import_name: str = ""  #: Python package of the wheel, for the lists and `devel`.


def tree_members(plan: Plan, tree: PackedTree, distribution: str) -> Iterator[WheelMember]:
    """Return the files of a package's tree. If the top directory has no file, add the empty `.{distribution}`.

    Otherwise pip would leave empty directories behind: it removes a directory only if RECORD names a file directly in
    it. The name has the distribution, because several may share a tree.
    """
    if all("/" in path for path in tree.packed):
        yield text_member(f"{plan.tree}/.{distribution}", b"")
    for path, packed in tree.packed.items():
        yield WheelMember(f"{plan.tree}/{path}", int(packed.mode, 8), join([tree.runs[path]]), packed.sha256)


def license_members(paths: Iterable[str], tree: PackedTree, dist_info: str) -> Iterator[WheelMember]:
    """Return the artifacts' licence texts, as the dist-info directory has them: the same runs once more."""
    for path in paths:
        yield WheelMember(f"{dist_info}/licenses/{path}", 0o644, join([tree.runs[path]]), tree.packed[path].sha256)


def console_scripts(
    path: str, module: str, plan: Plan, label: str, *, is_windows: bool = False
) -> list[tuple[str, str]]:
    """Return the console scripts whose tools the package ships: (name, object reference). The others it says in a note.

    A list serves Linux and Windows, where programs have `.exe` after the path, and no modes. An SDK need not have every
    tool that a list of scripts names. Raises ToolError for a tool that is not executable, and for a name that no
    function can have.
    """
    modes = {entry.path: entry.mode for entry in plan.entries if entry.is_packed_file}
    listed = listed_rows(path, "script", "console_scripts")
    scripts = [row for row in listed if (f"{row['path']}.exe" if is_windows else row["path"]) in modes]
    for row in scripts:
        if not is_windows and not is_executable(modes[row["path"]]):
            raise ToolError(
                f"console script {row['script']}: {row['path']}, which it starts, is not executable (mode "
                f"{modes[row['path']]}); expected mode 0755. Set the mode in the artifact, or take the script out of "
                "`console_scripts`"
            )
    note_missing(label, "tools of console scripts", path, "script", [row for row in listed if row not in scripts])
    return [(row["script"], f"{module}:{_function(row['script'])}") for row in scripts]


def _function(script: str) -> str:
    name = script.replace("-", "_").replace("+", "x")
    if not name.isidentifier():
        raise ToolError(
            f"console script {script}: it would start a function called {name}, which is no Python identifier. Name "
            "the script otherwise in `console_scripts`: letters, digits, `_`, `-` and `+`"
        )
    return name


def info_members(project: Project, args: Arguments, plan: Plan, dist_info: str) -> Iterator[WheelMember]:
    """Return the files of the dist-info directory, RECORD apart."""
    metadata = core_metadata(project, Path(args.description).read_text(encoding="utf-8"))
    Path(args.metadata).write_text(metadata, encoding="utf-8")
    yield text_member(f"{dist_info}/METADATA", metadata.encode())
    yield text_member(f"{dist_info}/WHEEL", wheel_text(args.tag).encode())
    is_windows = args.tag.rpartition("-")[2].startswith("win")
    listed = args.console_scripts
    if listed and (
        scripts := console_scripts(listed, f"{args.import_name}._cli", plan, args.label, is_windows=is_windows)
    ):
        yield text_member(f"{dist_info}/entry_points.txt", entry_points_text(scripts).encode())


def link(args: Arguments) -> None:
    """Write the wheel, its metadata and its digest."""
    project = Project.from_document(read_document(args.project))
    plan = Plan.from_document(read_document(args.plan))
    tree = read_tree(plan, args.index, args.segment)
    wheel = Path(args.wheel)
    dist_info = "-".join(wheel.name.split("-")[:2]) + ".dist-info"
    files = {name.replace("{dist_info}", dist_info): path for name, path in args.file.items()}
    in_tree = {name: files.pop(name) for name in sorted(files) if name.startswith(IN_TREE)}
    from_artifacts, (plan, tree) = plan, add_to_tree(plan, tree, in_tree)
    members = [text_member(name, Path(path).read_bytes()) for name, path in files.items()]
    texts = license_paths(plan, tuple(args.license_pattern))
    members.extend(license_members(texts, tree, dist_info))
    is_archive = args.devel not in (None, NO_ARCHIVE)
    members.extend(
        link_members(from_artifacts, tree, project, args.import_name if args.devel else "", is_archive=is_archive)
    )
    needed = TagReport.from_document(read_document(args.platform_tag)).external
    external = tuple(dict.fromkeys((*needed, *project.requires_external)))
    project = replace(project, license_files=(*project.license_files, *texts), requires_external=external)
    packages = shipped_packages(args.python_packages, plan, args.label) if args.python_packages else []
    requires = dict.fromkeys((*project.requires, *requirements(packages, project.distribution)))
    project = replace(project, requires=tuple(requires))
    members.extend(info_members(project, args, plan, dist_info))
    members.extend(path_file(packages, plan.tree, args.import_name))
    if is_archive:
        archive = join(tar_runs(plan.tree, tree.packed, tree.runs))
        members.append(joined_member(f"{args.import_name}/_devel.{args.devel}", archive))
    else:
        members.extend(tree_members(plan, tree, project.distribution))
    with wheel.open("wb") as file:
        written = write_wheel(file, members, dist_info)
    Digest(wheel.name, written.size, written.sha256).write(args.digest)


def main(argv: list[str]) -> int:
    """Link the wheel."""
    return run_program(Arguments, argv, link)
