"""What a runtime package ships, by the documentation: libraries by SONAME, launchers, forwarders, files as they are."""

import posixpath
import re

from tests.pipeline.expectation import Expected, Shipped, Tree, all_nodes, is_foreign, parents
from tests.pipeline.file_rules import (
    DATA,
    has_code,
    is_broken,
    is_program,
    loads,
    looks_like,
    named_targets,
    same_bytes,
    soname_of,
    split_version,
)
from tests.pipeline.sdk import SCRIPTS, TORN, Content, Data, Directory, Elf, File, Link, Node, Other, Slice


def _expect_code(expected: Expected, declared: Slice, path: str, content: Content) -> None:
    """Say whether all device code of a file that a package packs belongs somewhere."""
    if content == Data(TORN) and not path.endswith(DATA):
        expected.must["torn"] = path
    if not has_code(path, content):
        return
    assert isinstance(content, Other)
    for code in content.targets:
        if not any(loads(target, code) for target in declared.all_targets + declared.left_out):
            expected.must["code for other GPUs"] = f"{path}: {code}"


def _expect_names(expected: Expected, declared: Slice, path: str, node: Node) -> None:
    """Say whether the targets that a path names are somebody's, and agree with the code that the file has."""
    names = named_targets(path)
    for name in names:
        if not any(loads(target, name) for target in declared.all_targets + declared.left_out):
            expected.must["code for other GPUs"] = f"{path}: {name}"
    if not names or not isinstance(node, File) or not has_code(path, node.content):
        return
    assert isinstance(node.content, Other)
    for code in node.content.targets:
        who = [target for target in declared.all_targets if loads(target, code)]
        if who and not any(loads(target, name) for target in who for name in names):
            expected.must["name and code"] = f"{path}: {code}"


def expect_runtime(expected: Expected, tree: Tree) -> None:
    """Say what a runtime package ships: docs/reference/packages.md, "In a runtime package"."""
    aliases: dict[str, str] = {}
    late = []
    declared = tree.package.slice
    for path, node in sorted(tree.own.items()):
        if not tree.wants(path) or isinstance(node, Directory):
            continue
        if declared:
            _expect_names(expected, declared, path, node)
        if tree.is_others(path):
            continue
        if isinstance(node, File) and declared:
            _expect_code(expected, declared, path, node.content)
        if isinstance(node, Link):
            _expect_link(expected, tree, path, aliases)
        elif not tree.goes_elsewhere(path, node):
            soname = soname_of(path, node.content)
            if soname is None or soname == posixpath.basename(path):
                tree.shipped[path] = Shipped(node.content, node.executable, data=path.endswith(DATA))
            else:
                late.append(path)
    for path in late:
        _expect_other_name(expected, tree, path, aliases)
    _expect_launchers(expected, tree)
    _expect_forwarders(expected, tree, aliases)
    _expect_scripts(expected, tree)
    _expect_owners(expected, tree)


def _expect_owners(expected: Expected, tree: Tree) -> None:
    """Say what a package may not ship: what another has."""
    for name in tree.package.builds_on:
        other = expected.trees[name]
        if twice := sorted(set(other.shipped) & set(tree.shipped)):
            expected.must["two owners"] = twice[0]
        if other.package.tree == tree.package.tree:
            pairs = [(path, above) for path in (*tree.shipped, *other.shipped) for above in parents(path)]
            if under := [path for path, above in pairs if above in tree.shipped or above in other.shipped]:
                expected.must["two owners"] = f"{under[0]} is below a file"


def _expect_link(expected: Expected, tree: Tree, path: str, aliases: dict[str, str]) -> None:
    real = tree.resolve(path)
    file = tree.file(real) if real else None
    if real is None or file is None:
        return
    own, name = real in tree.own, posixpath.basename(path)
    if tree.package.slice and own:
        if not tree.is_others(real):  # What names alone leave out, nobody reads.
            _expect_code(expected, tree.package.slice, real, file.content)
        if tree.goes_elsewhere(real, file):
            return
    if own and is_broken(real, file.content):
        expected.must["damaged"] = path
    soname = soname_of(real, file.content)
    if soname and (soname != name or not own):
        aliases[path] = real
    elif is_program(real, file) and not (name.endswith(".py") and own):
        tree.shipped[path] = Shipped(None, target=real)
    elif own:
        tree.shipped[path] = Shipped(file.content, file.executable, data=real.endswith(DATA))
    else:
        expected.must["link into another package"] = path


def _expect_other_name(expected: Expected, tree: Tree, path: str, aliases: dict[str, str]) -> None:
    """Decide on a library under another name than its SONAME: left out only if its bytes are shipped under that."""
    file = tree.own[path]
    assert isinstance(file, File)
    assert isinstance(file.content, Elf | Other)
    under = posixpath.join(posixpath.dirname(path), file.content.soname or "")
    below = [expected.trees[name] for name in tree.package.builds_on]
    wanted = [one for one in below if one.wants(path)]  # of what it leaves out, a package proves nothing
    known = [one for one in wanted if _has_file(expected, {*one.package.artifacts} & {*tree.package.artifacts}, path)]
    there = next((one.shipped[under].content for one in [tree, *known] if under in one.shipped), None)
    if there is not None and same_bytes(there, file.content):
        aliases[path] = under
        return
    if there is not None and looks_like(there, file.content):
        expected.may["one SONAME, two libraries"] = path
    tree.shipped[path] = Shipped(file.content, file.executable)


def _has_file(expected: Expected, artifacts: set[str], path: str) -> bool:
    """Whether one of these artifacts has a path: packages that are made from it know that they have the same file."""
    return any(path == one for artifact in artifacts for one, _ in all_nodes(expected.sdk, artifact))


def _expect_launchers(expected: Expected, tree: Tree) -> None:
    """Find where launchers lead; those to what nobody ships are not made."""
    trees = [tree, *(expected.trees[name] for name in tree.package.builds_on)]
    for path, shipped in list(tree.shipped.items()):
        if shipped.content is None:
            owner = tree if shipped.target in tree.own else None
            owner = owner or next(one for one in trees[1:] if shipped.target in one.own and one.wants(shipped.target))
            # What this package leaves out, another may have put into the same tree.
            there = [one for one in trees if one.package.tree == owner.package.tree and shipped.target in one.shipped]
            owner = owner if shipped.target in owner.shipped else (there or [owner])[0]
            if shipped.target not in owner.shipped:
                del tree.shipped[path]
                continue
            target = owner.shipped[shipped.target]
            if is_foreign(expected, target.content):
                expected.must["launcher of another CPU"] = path
            if not target.executable:
                expected.must["launcher without executable bit"] = path
            tree.shipped[path] = Shipped(None, target=f"{owner.package.tree}/{shipped.target}")


def _expect_scripts(expected: Expected, tree: Tree) -> None:
    """Say which console scripts could not start their tools."""
    for path in SCRIPTS.values() if expected.sdk.settings.scripts else ():
        if path in tree.shipped and not tree.shipped[path].executable:
            expected.must["launcher without executable bit"] = path


def _age(soname: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.findall(r"[0-9]+|[^0-9]+", soname)]


def _expect_forwarders(expected: Expected, tree: Tree, aliases: dict[str, str]) -> None:
    """Say which unversioned names are forwarded: docs/reference/packages.md, "Forwarders"."""
    libraries = {
        path: shipped
        for path, shipped in tree.shipped.items()
        if shipped.content and not shipped.data and soname_of("", shipped.content) == posixpath.basename(path)
    }
    wanted: dict[str, str] = {}
    for path in sorted(libraries, key=lambda path: _age(posixpath.basename(path))):
        directory, name = posixpath.split(path)
        plain, version = split_version(name)
        if version:
            wanted[posixpath.join(directory, plain)] = name
    needed = _needed(tree)
    for path, real in aliases.items():
        if not path.endswith(".so") and posixpath.basename(path) not in needed:
            continue
        library = _packaged(tree, real)
        beside = library in libraries and posixpath.dirname(library) == posixpath.dirname(path)
        wanted.pop(path, None)
        if beside:
            wanted[path] = posixpath.basename(library)
    taken = {path for name in tree.package.builds_on for path in expected.trees[name].shipped}
    taken |= {path for path, node in tree.own.items() if isinstance(node, Directory)}
    taken |= set(tree.shipped) | {above for path in tree.shipped for above in parents(path)}
    for path, target in wanted.items():
        if path not in taken and tree.wants(path):
            tree.shipped[path] = Shipped(None, target=target)
    trees = [tree, *(expected.trees[name] for name in tree.package.builds_on)]
    shipped = {path for one in trees for path in one.shipped}
    tree.aliases = {posixpath.basename(path) for path, real in aliases.items() if _packaged(tree, real) in shipped}
    names = {posixpath.basename(path) for path in shipped}
    if lost := sorted(needed & set().union(*(one.aliases for one in trees)) - names):
        expected.must["needed under another name"] = lost[0]


def _needed(tree: Tree) -> set[str]:
    """Return the names of libraries that the files of a package need."""
    contents = [shipped.content for shipped in tree.shipped.values() if isinstance(shipped.content, Elf)]
    return {name for content in contents for name in content.needed}


def _packaged(tree: Tree, real: str) -> str:
    """Return under which path a library is packed: its SONAME's, if the same one is there."""
    file = tree.file(real)
    if file is None:
        return real
    under = posixpath.join(posixpath.dirname(real), soname_of(real, file.content) or "")
    there = tree.shipped.get(under)
    return under if there and there.content and same_bytes(there.content, file.content) else real
