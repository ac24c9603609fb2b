"""What has to come of an SDK, by the documentation (docs/packages.md) alone: the files of each package, or a refusal.

    expected = expect(sdk, scratch)

It was written apart from the product and imports nothing of it. Links are resolved by the kernel, in a directory laid
out like the merged prefix.
"""

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.pipeline.file_rules import (
    DATA,
    has_code,
    is_broken,
    is_form,
    is_program,
    kept_code,
    loads,
    looks_like,
    matches,
    named_targets,
    same_bytes,
    soname_of,
)
from tests.pipeline.sdk import (
    SCRIPTS,
    TORN,
    Content,
    Data,
    Directory,
    Elf,
    File,
    Form,
    Link,
    Node,
    Other,
    Package,
    Sdk,
    Slice,
)

#: The kind of refusal that comes last: when all is packed, and before the wheel is linked.
OTHER_CPU = "another CPU than the tag's"
#: What a refusal says -> the kind of input that calls for it.
REFUSALS = {
    r"have one SONAME": "one SONAME, two libraries",
    r"differ, but go to one package|different content|is where its directory has to be": "conflict",
    r"expected one owner": "two owners",
    r"which a wheel cannot hold\. Expected the SONAME": "needed under another name",
    r"expected a target whose content can be copied": "link into another package",
    r"leads outside the artifact tree": "link leads out",
    r"damaged or cut off|expected a library, as the name says": "damaged",
    r"no path of its artifacts matches": "unmatched",
    r"expected a file of the SDK": "empty",
    r"--platforms": "launcher of another CPU",
    r"platform tag|expected files for": OTHER_CPU,
    r"`repacked`": "not repacked",
    r"execut": "launcher without executable bit",
    r"that none of the packages is for": "code for other GPUs",
    r"name says that it is for": "name and code",
    r"cannot be sliced": "torn",
}
#: Bytes of a file that no generated file reaches.
ALWAYS_SMALL = 16 << 20
VERSIONED = re.compile(r"(.+?\.so)\.([0-9].*)")


@dataclass(frozen=True)
class Shipped:
    """A file of a runtime package: the bytes of a content, or a launcher or forwarder to `target`."""

    content: Content | None
    executable: bool = True
    target: str = ""
    data: bool = False
    """Whether its name says that it is data: then it is kept as it is."""

    @property
    def is_forwarder(self) -> bool:
        """Whether it is a library that brings the one of another name beside it."""
        return self.content is None and "/" not in self.target


@dataclass
class Tree:
    """One package: what its artifacts have, where all links lead, and what it is to ship."""

    package: Package
    own: dict[str, Node]
    root: Path
    """The merged prefix, laid out as a directory; files are empty."""
    below: dict[str, Node] = field(default_factory=dict)
    """What packages that it builds on have in the prefix."""
    shipped: dict[str, Shipped] = field(default_factory=dict)
    aliases: set[str] = field(default_factory=set)
    """Names of libraries that are not shipped because the library is, under its SONAME."""

    def resolve(self, path: str) -> str | None:
        """Return where a path leads, relative to the prefix; None if it dangles or leads out."""
        place = self.root / path
        try:
            place.stat()
        except OSError:
            return None
        real = Path(place).resolve()
        return str(real.relative_to(self.root)) if real.is_relative_to(self.root) else None

    def file(self, path: str) -> File | None:
        """Return the file at a resolved path; None for a directory."""
        node = self.own.get(path, self.below.get(path))
        return node if isinstance(node, File) else None

    def is_others(self, path: str) -> bool:
        """Whether a path names GPU targets, and none of this package's."""
        names, targets = named_targets(path), self.package.slice.targets if self.package.slice else ()
        return bool(targets and names and not any(loads(target, name) for target in targets for name in names))

    def goes_elsewhere(self, path: str, file: File) -> bool:
        """Whether a file is for other GPUs alone, by its path or because it is nothing but code for them."""
        is_code = has_code(path, file.content) and not is_form(file.content, Form.FAT_LIBRARY)
        return self.is_others(path) or bool(is_code and not kept_code(self.package, path, file.content))

    def wants(self, path: str) -> bool:
        """Whether the package's patterns let it hold a path."""
        package = self.package
        included = not package.include or any(matches(path, pattern) for pattern in package.include)
        return included and not any(matches(path, pattern) for pattern in package.exclude)


@dataclass
class Expected:
    """What is to come of an SDK: trees by the names of packages, or one of the refusals."""

    sdk: Sdk
    trees: dict[str, Tree] = field(default_factory=dict)
    must: dict[str, str] = field(default_factory=dict)
    """Kinds of refusals that have to come, and why."""
    may: dict[str, str] = field(default_factory=dict)
    """Those that the documentation leaves open."""


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


def _is_foreign(expected: Expected, content: Content | None) -> bool:
    """Whether a program or a library is for another CPU than the build."""
    if isinstance(content, Other) and content.form not in (Form.STATIC, Form.FAT_LIBRARY):
        return False
    return isinstance(content, Elf | Other) and content.machine != expected.sdk.settings.machine


# What artifacts have


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
    ours = [one for one in contents if not isinstance(one, Data) and not _is_foreign(expected, one)]
    if foreign := next((one for one in contents if _is_foreign(expected, one)), None):
        device_code = (Form.OBJECT, Form.BUNDLE, Form.COMPRESSED)
        if all(any(is_form(one, form) for form in device_code) for one in ours):
            (expected.may if ours else expected.must)[OTHER_CPU] = f"{tree.package.name}: {foreign}"
            # Launchers of scripts are for the CPU of the programs and libraries beside these.
            expected.may["launcher of another CPU"] = f"{tree.package.name}: {foreign}"


def leads_out(path: str, text: str) -> bool:
    """Whether a link leads out of its base directory by its text."""
    place = posixpath.normpath(posixpath.join("/base", posixpath.dirname(path), text))
    return text.startswith("/") or not f"{place}/".startswith("/base/")


def all_nodes(sdk: Sdk, artifact: str) -> Iterable[tuple[str, Node]]:
    """Yield all paths of an artifact, directories too; a base directory in another belongs to both."""
    bases = next(one.bases for one in sdk.artifacts if one.name == artifact)
    for base in sorted(bases):
        for other, nodes in bases.items():
            if other == base or other.startswith(base + "/"):
                inside = posixpath.relpath(other, base) if other != base else ""
                for path, node in {"": Directory(), **nodes}.items():
                    place = posixpath.join(inside, path).rstrip("/")
                    yield from ((above, Directory()) for above in parents(place))
                    yield from [(place, node)] if place else []


def parents(path: str) -> list[str]:
    """Return the directories above a relative path."""
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


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
        _expect_runtime(expected, tree)
        if package.strict and not tree.shipped:
            expected.must["empty"] = package.name
        return
    if package.strict:
        _expect_devel_files(expected, tree)
    for path, node in tree.own.items():
        if isinstance(node, File) and _is_foreign(expected, node.content):
            expected.may[OTHER_CPU] = path
        if isinstance(node, File) and package.kind == "plain" and _is_foreign(expected, node.content):
            expected.may["launcher of another CPU"] = path
    if expected.sdk.settings.big_file < ALWAYS_SMALL and not package.repacked:
        expected.may["not repacked"] = "a package leaves a big file out"
    thin = [one.name for one in expected.sdk.packages if one.slice]
    # Of packages per GPU target, each has a tree of its own, and devel links to the one that is installed.
    owners = [name for name in package.builds_on if name not in thin[1:]]
    owned = Counter(path for name in owners for path in expected.trees[name].shipped)
    if twice := [path for path, count in owned.items() if count > 1]:
        expected.must["two owners"] = twice[0]


def _expect_files(expected: Expected, tree: Tree) -> None:
    """Say which files are not what they say that they are."""
    broken = [path for path, node in tree.own.items() if isinstance(node, File) and is_broken(path, node.content)]
    for path in broken:  # of one that is left out, a link may be packed
        is_packed = tree.wants(path) and not tree.is_others(path)
        (expected.must if is_packed else expected.may)["damaged"] = path


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


# What a runtime package ships


def _expect_runtime(expected: Expected, tree: Tree) -> None:
    """Say what a runtime package ships: docs/packages.md, "In a runtime package"."""
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
            if _is_foreign(expected, target.content):
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
    """Say which unversioned names are forwarded: docs/packages.md, "Forwarders"."""
    libraries = {
        path: shipped
        for path, shipped in tree.shipped.items()
        if shipped.content and not shipped.data and soname_of("", shipped.content) == posixpath.basename(path)
    }
    wanted: dict[str, str] = {}
    for path in sorted(libraries, key=lambda path: _age(posixpath.basename(path))):
        directory, name = posixpath.split(path)
        if match := VERSIONED.fullmatch(name):
            wanted[posixpath.join(directory, match[1])] = name
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
    """Return by which names the files of a package need libraries."""
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
