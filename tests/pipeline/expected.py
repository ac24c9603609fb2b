"""What has to come of an SDK, by the two pages packages.md (docs/rocm, docs/reference): the files, or a refusal.

    expected = expect(sdk, scratch)

It was written apart from the product and imports nothing of it. Links are resolved by the kernel, in a directory laid
out like the merged prefix.
"""

import posixpath
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from tests.pipeline.expectation import OTHER_CPU, REFUSALS, Expected, Tree, all_nodes, is_foreign, parents
from tests.pipeline.expected_runtime import expect_runtime
from tests.pipeline.file_rules import is_broken, is_form, matches, same_bytes
from tests.pipeline.sdk import Data, Directory, File, Form, Link, Node, Other, Package, Sdk

#: Bytes of a file that no generated file reaches.
ALWAYS_SMALL = 16 << 20


def expect(sdk: Sdk, scratch: Path) -> Expected:
    """Say what is to come of an SDK. `scratch` is a directory for merged prefixes."""
    expected = Expected(sdk)
    for artifact in sdk.artifacts:
        for base, nodes in artifact.bases.items():
            for path, node in nodes.items():
                if isinstance(node, Link) and leads_out(path, node.text):
                    expected.must["link leads out"] = f"{artifact.name}/{base}/{path} -> {node.text}"
    for package in sdk.packages:
        if expected.must:
            _leave_open(expected, package)
        else:
            _expect_package(expected, package, scratch)
    for tree in expected.trees.values():
        _expect_tag(expected, tree)
    return expected


def _expect_tag(expected: Expected, tree: Tree) -> None:
    """Say whether all programs and libraries of a package are for another CPU than its tag's: that stops."""
    contents = [one.content for one in tree.shipped.values() if one.content and not one.data]
    ours = [one for one in contents if not isinstance(one, Data) and not is_foreign(expected, one)]
    if foreign := next((one for one in contents if is_foreign(expected, one)), None):
        device_code = (Form.OBJECT, Form.BUNDLE, Form.COMPRESSED)
        if all(any(is_form(one, form) for form in device_code) for one in ours):
            (expected.may if ours else expected.must)[OTHER_CPU] = f"{tree.package.name}: {foreign}"
            # Launchers of scripts are for the CPU of the programs and libraries beside these.
            expected.may["launcher of another CPU"] = f"{tree.package.name}: {foreign}"


def leads_out(path: str, text: str) -> bool:
    """Whether a link leads out of its base directory by its text."""
    place = posixpath.normpath(posixpath.join("/base", posixpath.dirname(path), text))
    return text.startswith("/") or not f"{place}/".startswith("/base/")


def merge(expected: Expected, package: Package, tree: Tree) -> None:
    """Lay a package's artifacts over each other."""
    for artifact in sorted(package.artifacts):
        for path, node in all_nodes(expected.sdk, artifact):
            known = tree.own.setdefault(path, node)
            is_sure = tree.wants(path) and not tree.is_others(path) and not (package.slice and _is_code(node))
            wanted = expected.must if is_sure else expected.may
            if type(known) is not type(node) or (isinstance(known, Link) and known != node):
                wanted["conflict"] = f"{path}: {known} and {node}"
            elif isinstance(known, File) and isinstance(node, File):
                if not same_bytes(known.content, node.content):
                    wanted["conflict"] = f"{path}: other content"
                tree.own[path] = File(known.content, known.executable or node.executable)


def _is_code(node: Node) -> bool:
    return isinstance(node, File) and isinstance(node.content, Other)


def lay(root: Path, nodes: Mapping[str, Node]) -> None:
    """Lay a prefix out as a directory."""
    for path, node in sorted(nodes.items()):
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(node, Directory):
            place.mkdir(exist_ok=True)
        elif isinstance(node, Link):
            place.symlink_to(node.text)
        else:
            place.touch()


def prefix_below(expected: Expected, package: Package) -> dict[str, Node]:
    """Return what packages have that this one builds on; the first wins. An excluded file is nowhere."""
    below: dict[str, Node] = {}
    for name in package.builds_on:
        tree = expected.trees[name]
        for path, node in tree.own.items():
            if tree.wants(path) or not isinstance(node, File):
                below.setdefault(path, node)
    return below


def _expect_package(expected: Expected, package: Package, scratch: Path) -> None:
    tree = Tree(package, {}, scratch.resolve() / package.name / "prefix")
    tree.root.mkdir(parents=True)
    merge(expected, package, tree)
    expected.trees[package.name] = tree
    _expect_files(expected, tree)
    _expect_patterns(expected, tree)
    if "conflict" in expected.must | expected.may:
        _leave_open(expected, package)
        return
    tree.below = {path: node for path, node in prefix_below(expected, package).items() if path not in tree.own}
    blocked = {path for path, node in (tree.own | tree.below).items() if not isinstance(node, Directory)}
    if any(above in blocked for path in (*tree.own, *tree.below) for above in parents(path)):
        expected.may["conflict"] = "one package has a directory where another has none"
        _leave_open(expected, package)
        return
    lay(tree.root, tree.own | tree.below)
    if package.kind == "runtime":
        expect_runtime(expected, tree)
        if package.strict and not tree.shipped:
            expected.must["empty"] = package.name
        return
    if package.strict:
        _expect_devel_files(expected, tree)
    for path, node in tree.own.items():
        if isinstance(node, File) and is_foreign(expected, node.content):
            expected.may[OTHER_CPU] = path
    if expected.sdk.settings.big_file < ALWAYS_SMALL and not package.repacked:
        expected.may["not repacked"] = "a package leaves a big file out"
    thin = [one.name for one in expected.sdk.packages if one.slice]
    # Packages per GPU target each have a tree of their own, and devel links to the installed one.
    owners = [name for name in package.builds_on if name not in thin[1:]]
    owned = Counter(path for name in owners for path in expected.trees[name].shipped)
    if twice := [path for path, count in owned.items() if count > 1]:
        expected.must["two owners"] = twice[0]


def _expect_files(expected: Expected, tree: Tree) -> None:
    """Say which files are not what they say that they are: that stops if the package packs them."""
    broken = [path for path, node in tree.own.items() if isinstance(node, File) and is_broken(path, node.content)]
    for path in broken:
        if tree.wants(path) and not tree.is_others(path) and not _is_for_nobody(expected, tree.package, path):
            expected.must["damaged"] = path


def _is_for_nobody(expected: Expected, package: Package, path: str) -> bool:
    """Whether a devel package leaves a file out because packages per GPU target do by its name, and none ships it."""
    below = [expected.trees[name] for name in package.builds_on] if package.kind != "runtime" else []
    is_left_out = any(path in one.own and one.wants(path) and one.is_others(path) for one in below)
    return is_left_out and not any(path in one.shipped for one in below)


def _expect_patterns(expected: Expected, tree: Tree) -> None:
    """Say which patterns match nothing; a directory counts if it is empty."""
    if not tree.package.strict or not tree.package.artifacts:
        return
    above = {parent for path in tree.own for parent in parents(path)}
    paths = tree.own.keys() - above
    for pattern in (*tree.package.include, *tree.package.exclude):
        if not any(matches(path, pattern) for path in paths):
            expected.must["unmatched"] = pattern


def _expect_devel_files(expected: Expected, tree: Tree) -> None:
    """Say whether a package for development has nothing; what becomes of its links, and per GPU target, is open."""
    wanted = [node for path, node in tree.own.items() if tree.wants(path) and not isinstance(node, Directory)]
    if not wanted:
        expected.must["empty"] = tree.package.name
    elif not any(isinstance(node, File) for node in wanted) or any(one.slice for one in expected.sdk.packages):
        expected.may["empty"] = tree.package.name


def _leave_open(expected: Expected, package: Package) -> None:
    """Note that anything may stop a build that cannot be: packages are planned before any is packed."""
    why = f"{package.name} was not looked at: the build has to stop anyway"
    expected.may |= dict.fromkeys(REFUSALS.values(), why) | expected.may
