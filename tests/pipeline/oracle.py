"""What has to be true of the packages of an SDK, by the documentation (docs/packages.md) alone.

    expected = expect(sdk, scratch)
    check(expected, built, site)

It was written apart from the product and imports nothing of it. Links are resolved by the kernel, in a directory laid
out like the merged prefix; ELF files are read by the gABI; offload bundles by clang's documentation of them; wheels by
the standard library and by `packaging`. (Python has no zstd before 3.14, so libzstd's decoder is the product's copy.)
What it finds is a `FindingError`, of a kind by which findings are told apart.
"""

import base64
import csv
import email.parser
import fnmatch
import functools
import hashlib
import io
import itertools
import json
import posixpath
import re
import shutil
import stat
import struct
import tarfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from packaging.metadata import Metadata
from packaging.utils import parse_wheel_filename

from tests.pipeline.sdk import (
    NAMED_TARGETS,
    SCRIPTS,
    SPIRV,
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
from tools.lib.device.zstd import ZstdDecoder

#: What a refusal says -> the kind of input that calls for it.
REFUSALS = {
    r"have one SONAME": "one SONAME, two libraries",
    r"differ, but go to one package|different content|is where its directory has to be": "conflict",
    r"expected one owner": "two owners",
    r"expected a target whose content can be copied": "link into another package",
    r"leads outside the artifact tree": "link leads out",
    r"damaged or cut off": "damaged",
    r"--platforms": "launcher of another CPU",
    r"platform tag|expected files for": "another CPU than the tag's",
    r"`repacked`": "not repacked",
    r"execut": "launcher without executable bit",
    r"that none of the packages is for": "code for other GPUs",
    r"name says that it is for": "name and code",
    r"cannot be sliced": "torn",
}
#: Refusals of several lines.
LONG = ("code for other GPUs", "torn", "name and code")
#: Generic processors, and of those that SDKs have code for, what each stands for.
COVERED = {"gfx10-3-generic": ("gfx1030",), "gfx9-generic": ("gfx906",)}
#: Bytes of a file that no generated file reaches.
ALWAYS_SMALL = 1 << 20
#: Names that say that files are data; nobody looks into these.
DATA = (".h", ".txt", ".kdb")
VERSIONED = re.compile(r"(.+?\.so)\.([0-9].*)")
#: Constants of the gABI.
PT_LOAD, PT_DYNAMIC, PT_INTERP, SHT_NOBITS = 1, 2, 3, 8
DT_NEEDED, DT_STRTAB, DT_SONAME, DT_RPATH, DT_RUNPATH = 1, 5, 14, 15, 29
#: Sections whose bytes no edit may change.
KEPT_SECTIONS = (".data", ".rodata", ".comment", ".hip_fatbin", ".note.gnu.build-id", ".gnu.hash")


class FindingError(AssertionError):
    """The build and the documentation disagree."""

    def __init__(self, kind: str, text: str) -> None:
        """Take a kind of a few words, and what was expected of which file, and what came."""
        super().__init__(f"{kind}: {text}")
        self.kind = kind


@dataclass(frozen=True)
class Shipped:
    """A file of a runtime package: the bytes of a content, or a launcher or forwarder to `target`."""

    content: Content | None
    executable: bool = True
    target: str = ""
    data: bool = False
    """Whether its name says that it is data: then it is kept as it is."""


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


def matches(path: str, pattern: str) -> bool:
    """Whether a glob pattern means a path: `**` stands for any directories."""
    if "**" not in pattern:
        return path.count("/") == pattern.count("/") and fnmatch.fnmatchcase(path, pattern)
    head, _, rest = pattern.partition("**")
    parts = path.split("/")
    starts = [at for at in range(len(parts) + 1) if fnmatch.fnmatchcase("/".join(parts[:at]), head.rstrip("/"))]
    if not rest:
        return any(0 < at < len(parts) or not head for at in starts)
    return any(matches("/".join(parts[at:]), rest.lstrip("/")) for first in starts for at in range(first, len(parts)))


def loads(target: str, code: str) -> bool:
    """Whether a GPU loads code that was made for a target: docs/packages.md, "Thin packages"."""
    processor, *features = code.split(":")
    gpu, *has = target.split(":")
    contrary = {f"{one[:-1]}{'+' if one.endswith('-') else '-'}" for one in features}
    return code == SPIRV or ((gpu == processor or gpu in COVERED.get(processor, ())) and not contrary & set(has))


def named_targets(path: str) -> tuple[str, ...]:
    """Return the GPU targets that a path names: those of its last part that names any."""
    return next(filter(None, (NAMED_TARGETS.get(part, ()) for part in reversed(path.split("/")))), ())


def has_code(path: str, content: Content | None) -> bool:
    """Whether a content has device code, as far as anybody looks at a file of that name."""
    return isinstance(content, Other) and content.has_code and not path.endswith(DATA)


def kept_code(package: Package, path: str, content: Content) -> tuple[str, ...]:
    """Return the targets of the code that a package keeps of a content."""
    assert isinstance(content, Other)
    if package.slice is None or not has_code(path, content):
        return content.targets
    return tuple(code for code in content.targets if any(loads(target, code) for target in package.slice.targets))


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


def is_library(path: str, content: Content) -> bool:
    """Whether a content is a shared library, as far as anybody looks at a file of that name."""
    if path.endswith(DATA):
        return False
    return not content.program if isinstance(content, Elf) else is_form(content, Form.FAT_LIBRARY)


def is_form(content: Content, form: Form) -> bool:
    """Whether a content is an other file of this form."""
    return isinstance(content, Other) and content.form is form


def is_program(path: str, file: File) -> bool:
    """Whether a link to a file becomes a launcher."""
    if path.endswith(DATA):
        return False
    if isinstance(file.content, Data):
        return file.content.is_script and file.executable
    return file.content.program if isinstance(file.content, Elf) else is_form(file.content, Form.STATIC)


def soname_of(path: str, content: Content) -> str | None:
    """Return the SONAME of a library."""
    return content.soname if isinstance(content, Elf | Other) and is_library(path, content) else None


def _is_foreign(expected: Expected, content: Content | None) -> bool:
    """Whether a file is for another CPU than the build."""
    return isinstance(content, Elf | Other) and content.machine != expected.sdk.settings.machine


def same_bytes(one: Content, other: Content) -> bool:
    """Whether two contents are the same bytes."""
    return one == other or one.build() == other.build()


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
    return expected


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
    damaged = [
        path
        for path, node in tree.own.items()
        if isinstance(node, File) and node.content == Data(b"\x7fELF") and not path.endswith(DATA)
    ]
    for path in damaged:  # of one that is left out, a link may be packed
        is_packed = tree.wants(path) and not tree.is_others(path)
        (expected.must if is_packed else expected.may)["damaged"] = path
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
        return
    for path, node in tree.own.items():
        if isinstance(node, File) and _is_foreign(expected, node.content):
            expected.may["another CPU than the tag's"] = path
    if expected.sdk.settings.big_file < ALWAYS_SMALL and not package.repacked:
        expected.may["not repacked"] = "a package leaves a big file out"
    thin = [one.name for one in expected.sdk.packages if one.slice]
    # Of packages per GPU target, each has a tree of its own, and devel links to the one that is installed.
    owners = [name for name in package.builds_on if name not in thin[1:]]
    owned = Counter(path for name in owners for path in expected.trees[name].shipped)
    if twice := [path for path, count in owned.items() if count > 1]:
        expected.must["two owners"] = twice[0]


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
    """Say what a package may not ship: what another has, and what is for another CPU."""
    for path, shipped in tree.shipped.items():
        if _is_foreign(expected, shipped.content):
            expected.may["another CPU than the tag's"] = path
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
    known = [one for one in below if _has_file(expected, {*one.package.artifacts} & {*tree.package.artifacts}, path)]
    there = next((one.shipped[under].content for one in [tree, *known] if under in one.shipped), None)
    if there is not None and same_bytes(there, file.content):
        aliases[path] = under
        return
    if there is not None:
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
    for path, real in aliases.items():
        if not path.endswith(".so"):
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


def _packaged(tree: Tree, real: str) -> str:
    """Return under which path a library is packed: its SONAME's, if the same one is there."""
    file = tree.file(real)
    if file is None:
        return real
    under = posixpath.join(posixpath.dirname(real), soname_of(real, file.content) or "")
    there = tree.shipped.get(under)
    return under if there and there.content and same_bytes(there.content, file.content) else real


# What came


def check_refusal(expected: Expected, message: str) -> str:
    """Return of which kind a refusal is; raises FindingError unless the documentation lets the build stop so.

    `message` is what the tool printed.
    """
    known = next((kind for words, kind in REFUSALS.items() if re.search(words, message)), None)
    if known is None or known not in expected.must | expected.may:
        raise FindingError(f"refused: {known}", f"{message}\n expected: {expected.must or expected.may or 'wheels'}")
    lines = message.split("\n")
    if len(lines) > (len(set(lines)) if known in LONG else 1) or not message.startswith(("ERROR: //", "/")):
        raise FindingError("form of an error", message)
    return known


def check_wheels(expected: Expected, wheels: Mapping[str, Path], site: Path) -> None:
    """Check each wheel, and install it into `site`; raises FindingError."""
    if expected.must:
        kind, why = next(iter(expected.must.items()))
        raise FindingError(f"not refused: {kind}", why)
    for package in expected.sdk.packages:
        with zipfile.ZipFile(wheels[package.name]) as archive:
            files = {info.filename: (archive.read(info), info.external_attr >> 16) for info in archive.infolist()}
            if len(files) != len(archive.infolist()) or sorted(files) != sorted(set(files)):
                raise FindingError("member twice", package.name)
        check_metadata(expected.sdk, package, wheels[package.name], files)
        if package.kind == "runtime":
            check_scripts(expected.trees[package.name], expected.sdk, files)
            _check_tree(expected, expected.trees[package.name], files)
        _install(files, site)


def check_scripts(tree: Tree, sdk: Sdk, files: Mapping[str, tuple[bytes, int]]) -> None:
    """Check that a wheel declares the console scripts whose tools it ships: docs/packages.md, "Console scripts"."""
    text = next((data.decode() for name, (data, _) in files.items() if name.endswith("/entry_points.txt")), "")
    declared = dict(re.findall(r"^(.+?) ?= ?(.+)$", text, re.MULTILINE))
    shipped = [name for name, path in SCRIPTS.items() if sdk.settings.scripts and path in tree.shipped]
    wanted = {
        name: f"{tree.package.import_name}._cli:{re.sub('[-+]', lambda m: '_x'[m[0] == '+'], name)}" for name in shipped
    }
    if declared != wanted:
        raise FindingError("console scripts", f"{tree.package.name}: {declared}; expected {wanted}")


def check_metadata(sdk: Sdk, package: Package, wheel: Path, files: Mapping[str, tuple[bytes, int]]) -> None:
    """Check names, RECORD, METADATA and WHEEL of one wheel: PEP 427, PEP 566, PEP 639."""
    name, version, _, tags = parse_wheel_filename(wheel.name)
    info = f"{package.distribution.replace('-', '_')}-{sdk.settings.version}.dist-info"
    metadata = Metadata.from_email(files[f"{info}/METADATA"][0])
    on = [f"{one.distribution}=={sdk.settings.version}" for one in sdk.packages if one.name in package.builds_on]
    facts = {
        "name": (metadata.name, package.distribution),
        "file name": (name, package.distribution),
        "version": (str(metadata.version), str(version)),
        "requirements": ([str(one) for one in metadata.requires_dist or ()], on),
        "licence files": (
            sorted(f"{info}/licenses/{one}" for one in metadata.license_files or ()),
            sorted(one for one in files if one.startswith(f"{info}/licenses/")),
        ),
        "tags": (
            email.parser.BytesParser().parsebytes(files[f"{info}/WHEEL"][0]).get_all("Tag"),
            [str(tag) for tag in tags],
        ),
    }
    for what, (found, wanted) in facts.items():
        if found != wanted:
            raise FindingError("metadata", f"{wheel.name}: {what}: {found}; expected {wanted}")
    check_record(f"{info}/RECORD", files)


def check_record(record: str, files: Mapping[str, tuple[bytes, int]]) -> None:
    """Check that RECORD lists each file of a wheel once, with its digest and size."""
    rows = list(csv.reader(io.StringIO(files[record][0].decode(), newline="")))
    wanted = {}
    for name, (data, _) in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        wanted[name] = [name, "", ""] if name == record else [name, f"sha256={digest}", str(len(data))]
    if sorted(rows) != sorted(wanted.values()):
        raise FindingError("RECORD", f"{rows}; expected {wanted}")


def _check_tree(expected: Expected, tree: Tree, files: Mapping[str, tuple[bytes, int]]) -> None:
    """Check that a wheel has just the files that it is to ship, their bytes and modes."""
    prefix = f"{tree.package.tree}/"
    came = {name.removeprefix(prefix): file for name, file in files.items() if name.startswith(prefix)}
    wanted = {f".{tree.package.distribution}", *tree.shipped}
    if missing := sorted(wanted - set(came)):
        raise FindingError("missing file", f"{tree.package.name}: {missing[0]}: {tree.own.get(missing[0])}")
    if extra := sorted(set(came) - wanted):
        raise FindingError("extra file", f"{tree.package.name}: {extra[0]}: {tree.own.get(extra[0])}")
    _check_licenses(expected, tree, files)
    for path, shipped in tree.shipped.items():
        data, mode = came[path]
        where = f"{tree.package.name}: {path}"
        if mode != stat.S_IFREG | (0o755 if shipped.executable else 0o644):
            raise FindingError("mode", f"{where}: {mode:o}; expected executable: {shipped.executable}")
        if shipped.content is not None:
            check_content(where, shipped, data, (tree.package, path))
        elif "/" in shipped.target:
            check_launcher(where, data, posixpath.join(prefix, posixpath.dirname(path)), shipped.target)
        else:
            check_forwarder(where, data, tree, path, shipped.target)


def _check_licenses(expected: Expected, tree: Tree, files: Mapping[str, tuple[bytes, int]]) -> None:
    """Check that the licence texts of artifacts lie beside the metadata, too: docs/metadata.md."""
    patterns = expected.sdk.settings.license_patterns
    wanted = {path for path in tree.shipped if any(matches(path, pattern) for pattern in patterns) and "\\" not in path}
    found = {name.partition("/licenses/")[2]: file[0] for name, file in files.items() if ".dist-info/licenses/" in name}
    if found.keys() != wanted | {"LICENSE"}:
        raise FindingError("licence texts", f"{tree.package.name}: {sorted(found)}; expected {sorted(wanted)}")
    for path in wanted:
        if found[path] != files[f"{tree.package.tree}/{path}"][0]:
            raise FindingError("licence texts", f"{tree.package.name}: {path} is another one")


def check_launcher(where: str, data: bytes, directory: str, target: str) -> None:
    """Check which program a launcher executes, as a path in site-packages."""
    found = re.search(rb"\0([^\0]+)\0{100}", data[64:])
    text = found[1].decode() if found else ""
    if posixpath.normpath(posixpath.join(directory, text)) != target:
        raise FindingError("launcher", f"{where}: executes {text}; expected {target}")


def check_forwarder(where: str, data: bytes, tree: Tree, path: str, target: str) -> None:
    """Check which library a forwarder brings, and for which CPU it is."""
    library = tree.shipped[posixpath.join(posixpath.dirname(path), target)].content
    assert isinstance(library, Elf | Other)
    elf = read_elf(data)
    wanted = (posixpath.basename(path), (target,), library.machine, ("$ORIGIN",))
    if (elf.soname, elf.needed, elf.machine, elf.rpath) != wanted:
        raise FindingError("forwarder", f"{where}: {elf}; expected {wanted}")


# ELF files


@dataclass(frozen=True)
class ElfFacts:
    """What an ELF file says about itself, and bytes that no edit may change."""

    machine: int
    kind: int
    soname: str | None
    needed: tuple[str, ...]
    rpath: tuple[str, ...] | None
    runpath: tuple[str, ...] | None
    interpreter: bytes
    symbols: tuple[str, ...]
    bytes: tuple[tuple[str, bytes], ...]


@functools.lru_cache(maxsize=4096)
def read_elf(data: bytes) -> ElfFacts:
    """Read an ELF file as the loader does, by its segments (gABI, "Program Loading and Dynamic Linking")."""
    kind, machine = struct.unpack_from("<HH", data, 16)
    phoff, shoff = struct.unpack_from("<QQ", data, 32)
    phnum, _, shnum, shstrndx = struct.unpack_from("<4H", data, 56)
    programs = [struct.unpack_from("<IIQQQQQQ", data, phoff + 56 * at) for at in range(phnum)]

    def offset(address: int) -> int:
        for kind_, _, at, vaddr, _, size, *_ in programs:
            if kind_ == PT_LOAD and vaddr <= address < vaddr + size:
                return int(at + address - vaddr)
        raise FindingError("address", f"{address:#x} is in no segment's bytes")

    start, size = next((offset(one[3]), one[5]) for one in programs if one[0] == PT_DYNAMIC)
    tags = list(itertools.takewhile(lambda tag: tag[0], struct.iter_unpack("<qQ", data[start : start + size])))
    table = offset(dict(tags)[DT_STRTAB])
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, shoff + 64 * at) for at in range(shnum)]
    names = sections[shstrndx][4]
    content = {_text(data, names + one[0]): data[one[4] : one[4] + one[5]] for one in sections if one[1] != SHT_NOBITS}
    symbols = [_text(data, table + number) for number, *_ in struct.iter_unpack("<IIQQ", content.get(".dynsym", b""))]

    def texts(tag: int) -> tuple[str, ...]:
        return tuple(_text(data, table + value) for found, value in tags if found == tag)

    return ElfFacts(
        machine=machine,
        kind=kind,
        soname=next(iter(texts(DT_SONAME)), None),
        needed=texts(DT_NEEDED),
        rpath=_entries(texts(DT_RPATH)),
        runpath=_entries(texts(DT_RUNPATH)),
        interpreter=next((data[one[2] : one[2] + one[5]] for one in programs if one[0] == PT_INTERP), b""),
        symbols=tuple(filter(None, symbols)),
        # The first word of .data holds the address of .dynamic, which may move.
        bytes=tuple((name, content.get(name, b"")[8 * (name == ".data") :]) for name in KEPT_SECTIONS),
    )


def _text(data: bytes, offset: int) -> str:
    return data[offset : data.index(b"\0", offset)].decode()


def _entries(texts: tuple[str, ...]) -> tuple[str, ...] | None:
    return tuple(texts[0].split(":")) if texts else None


def normal(entry: str) -> str:
    """Return one spelling of a search path's entry."""
    first, _, rest = entry.replace("${ORIGIN}", "$ORIGIN").partition("/")
    return posixpath.join(first, posixpath.normpath(rest)).removesuffix("/.")


def expected_rpath(content: Content, package: Package, path: str) -> tuple[str, ...]:
    """Return the DT_RPATH that a file gets: docs/packages.md, "RPATH entries"."""
    searched = (content.runpath, content.rpath) if isinstance(content, Elf) else ()
    said = next((text for text in searched if text is not None), "")
    here = posixpath.join("/", package.tree, posixpath.dirname(path))
    entries = [entry for entry in said.split(":") if re.match(r"\$(ORIGIN|\{ORIGIN\})(/|$)", entry)]
    entries += [f"$ORIGIN/{posixpath.relpath(f'/{directory}', here)}" for directory in package.rpath]
    return tuple(dict.fromkeys(normal(entry) for entry in entries))


def check_content(where: str, shipped: Shipped, data: bytes, place: tuple[Package, str] | None) -> None:
    """Check the bytes of a file. `place` is the package and the path for which its RPATH is made; None: any."""
    content = shipped.content
    assert content is not None
    source = content.build()
    searches = isinstance(content, Elf) or is_form(content, Form.FAT_LIBRARY)
    if isinstance(content, Other) and content.has_code and not shipped.data:
        check_code(where, content, data, place)
        if not searches and place and place[0].slice:
            return
    if data == source and (place is None or not searches or shipped.data):
        return
    if not searches or shipped.data:
        raise FindingError("content", f"{where}: other bytes than {content}")
    came, was = read_elf(data), read_elf(source)
    fields = ("machine", "kind", "soname", "needed", "interpreter", "symbols", "bytes")
    if place and place[0].slice:
        came, was = (
            replace(one, bytes=tuple(pair for pair in one.bytes if pair[0] != ".hip_fatbin")) for one in (came, was)
        )
    if wrong := [name for name in fields if getattr(came, name) != getattr(was, name)]:
        raise FindingError("patched file", f"{where}: {wrong}: {came}; expected {was}")
    rpath = tuple(map(normal, came.rpath or ()))
    if came.runpath is not None or (place and rpath != expected_rpath(content, *place)):
        wanted = expected_rpath(content, *place) if place else "no DT_RUNPATH"
        raise FindingError("RPATH", f"{where}: {came.rpath} and DT_RUNPATH {came.runpath}; expected {wanted}")


# Device code


def inflated(data: bytes) -> bytes:
    """Return a compressed bundle's content (clang, ClangOffloadBundler: "CCOB"); raises FindingError."""
    version, method = struct.unpack_from("<HH", data, 4)
    sizes, body = {1: ("<I", 20), 2: ("<II", 24), 3: ("<QQ", 32)}[version]
    *file_size, size = struct.unpack_from(sizes, data, 8)
    whole = data[body : file_size[0] if file_size else None]
    if method:
        decoder, plain, used = ZstdDecoder(), b"", -1
        while used and not decoder.ended:
            more, used = decoder.step(whole, size + 1)
            plain, whole = plain + more, whole[used:]
    else:
        plain = zlib.decompressobj().decompress(whole)
    digest = hashlib.md5(plain, usedforsecurity=False).digest()[:8]
    if (size, digest) != (len(plain), data[body - 8 : body]):
        raise FindingError("compressed bundle", f"header {data[:body]!r} of {len(plain)} bytes")
    return plain


def read_bundle(data: bytes) -> tuple[int, list[tuple[str, bytes]]]:
    """Read the bundle that some bytes begin with: the version of its compression, 0 for none; its IDs and objects."""
    version = struct.unpack_from("<H", data, 4)[0] if data.startswith(b"CCOB") else 0
    plain = inflated(data) if version else data
    if not plain.startswith(b"__CLANG_OFFLOAD_BUNDLE__"):
        raise FindingError("no bundle", repr(plain[:24]))
    entries, at = [], 32
    for _ in range(struct.unpack_from("<Q", plain, 24)[0]):
        offset, size, length = struct.unpack_from("<QQQ", plain, at)
        entries.append((plain[at + 24 : at + 24 + length].decode(), plain[offset : offset + size]))
        at += 24 + length
    return version, entries


def bundles_of(data: bytes) -> list[bytes]:
    """Return where the bundles of a file begin, each with all that follows: of a library, where its wrappers lead."""
    if not data.startswith(b"\x7fELF"):
        return [data]
    phoff, shoff = struct.unpack_from("<QQ", data, 32)
    phnum, _, shnum, shstrndx = struct.unpack_from("<4H", data, 56)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, shoff + 64 * at) for at in range(shnum)]
    of = {_text(data, sections[shstrndx][4] + one[0]): one for one in sections}
    programs = [struct.unpack_from("<IIQQQQQQ", data, phoff + 56 * at) for at in range(phnum)]
    *_, wrappers, offset, size = of[".hipFatBinSegment"][:6]
    relocated = {}
    rela, symbols = of[".rela.dyn"], of[".dynsym"]
    for address, info, addend in struct.iter_unpack("<QQq", data[rela[4] : rela[4] + rela[5]]):
        value = struct.unpack_from("<Q", data, symbols[4] + 24 * (info >> 32) + 8)[0] if info >> 32 else 0
        relocated[address] = value + addend
    found = []
    for at in range(0, size, 24):
        address = relocated.get(wrappers + at + 8) or struct.unpack_from("<Q", data, offset + at + 8)[0]
        place = [address - one[3] + one[2] for one in programs if one[0] == PT_LOAD and 0 <= address - one[3] < one[5]]
        if len(place) != 1:
            raise FindingError("wrapper", f"{address:#x} is in {len(place)} segments")
        found.append(data[place[0] :])
    return found


def check_code(where: str, content: Other, data: bytes, place: tuple[Package, str] | None) -> None:
    """Check that a file has just the code objects that its package's GPUs can load, byte for byte, in their order."""
    bundles = bundles_of(data)
    before = bundles_of(content.build())
    if len(bundles) != len(before):
        raise FindingError("bundles", f"{where}: {len(bundles)}; expected {len(before)}")
    kept = kept_code(place[0], "", content) if place else content.targets
    for part, (bundle, was) in enumerate(zip(bundles, before, strict=True)):
        wanted = [
            entry
            for entry, target in zip(content.code(part), ("", *content.targets), strict=True)
            if target in ("", *kept)
        ]
        version, entries = read_bundle(bundle)
        if (version, entries) != (read_bundle(was)[0], wanted):
            raise FindingError("device code", f"{where}: bundle {part}: {version}, {entries}; expected {wanted}")


# What was installed


def _install(files: Mapping[str, tuple[bytes, int]], site: Path) -> None:
    """Install a wheel as pip does, and unpack the archive of a devel package."""
    for name, (data, mode) in files.items():
        place = site / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.exists():
            raise FindingError("file of two wheels", name)
        place.write_bytes(data)
        place.chmod(mode & 0o777)
        if posixpath.basename(name) in ("_devel.tar", "_devel.tar.xz"):
            with tarfile.open(place) as archive:
                archive.extractall(site, filter="tar")


def check_installed(expected: Expected, site: Path) -> None:
    """Check the installed trees together: the devel tree, and what the loader finds; raises FindingError."""
    for tree in expected.trees.values():
        if tree.package.kind == "devel":
            thin = [one for one in expected.trees.values() if one.package.slice]
            for one in thin:
                root = _beside(site, tree, one)
                _check_devel(expected, tree, root, [one, *(other for other in thin if other is not one)])
            if not thin:
                _check_devel(expected, tree, site / tree.package.tree)
        else:
            for path, shipped in tree.shipped.items():
                if isinstance(shipped.content, Elf) and not shipped.data:
                    _check_loads(expected, tree, path, site)


def _beside(site: Path, devel: Tree, thin: Tree) -> Path:
    """Return the devel tree as it is where one of the packages per GPU target is installed: with links to its files."""
    root = site / f"{devel.package.tree}_{thin.package.name}"
    shutil.copytree(site / devel.package.tree, root, symlinks=True)
    for path in thin.shipped:
        place = root / path
        if path in devel.own and not place.is_symlink() and not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            place.hardlink_to(site / thin.package.tree / path)
    return root


def _is_for_some(path: str, node: Node, thin: list[Tree]) -> bool:
    """Whether a path is in some packages per GPU target, and not in others."""
    return any(
        path in one.own
        and one.wants(path)
        and (one.goes_elsewhere(path, node) if isinstance(node, File) else one.is_others(path))
        for one in thin
    )


def _is_anywhere(expected: Expected, devel: Tree, real: str) -> bool:
    """Whether the devel tree has a path of the prefix, or a package that it builds on."""
    below = [expected.trees[name] for name in devel.package.builds_on]
    return devel.wants(real) or isinstance(devel.own.get(real), Directory) or any(real in one.shipped for one in below)


def _check_devel_path(tree: Tree, root: Path, thin: list[Tree], path: str, real: str) -> None:
    """Check what a path of the devel tree is, which leads to `real`; `thin` is a package per GPU target, if any."""
    place, file = root / path, tree.file(real)
    if file is None or place.is_dir():
        if file is not None or not (place.is_dir() and place.resolve() == (root / real).resolve()):
            raise FindingError("devel: directory", f"{path}: {tree.own[path]}")
        return
    if thin and real in thin[0].own and thin[0].wants(real) and has_code(real, file.content):
        assert isinstance(file.content, Other)
        check_code(f"devel: {path}", file.content, place.read_bytes(), (thin[0].package, real))
    else:
        check_content(f"devel: {path}", Shipped(file.content, data=real.endswith(DATA)), place.read_bytes(), None)
    # A file that is linked to has the mode that its package gave it.
    linked = thin[0].shipped.get(real) if thin else None
    is_alias = isinstance(tree.own[path], File) and place.resolve().name != place.name
    if is_alias or not tree.wants(real):
        return  # a library under its SONAME, or what is left out here: the mode is that of the package that has it
    if bool(place.stat().st_mode & 0o100) != (linked or file).executable:
        raise FindingError("devel: mode", f"{path}: {place.stat().st_mode:o}; expected of {file}")


def _check_devel(expected: Expected, tree: Tree, root: Path, thin: list[Tree] | None = None) -> None:
    """Check that the devel tree is as the artifacts are: each path, its content, its mode, and where links lead.

    `thin` are packages per GPU target; the first is the one that is installed.
    """
    thin = thin or []
    for path, node in sorted(tree.own.items()):
        if not tree.wants(path):
            continue
        place, real = root / path, tree.resolve(path)
        target = tree.own.get(real or "")
        if (
            target
            and (_is_for_some(path, node, thin) or _is_for_some(real or "", target, thin))
            and real not in thin[0].shipped
        ):
            continue
        if real is None:
            if place.is_symlink() or place.exists():
                raise FindingError("devel: dangling link", f"{path} -> {place.readlink()}")
            continue
        if not place.exists() and not place.is_symlink() and not _is_anywhere(expected, tree, real):
            continue
        if not place.exists():
            there = f"leads to {place.readlink()}" if place.is_symlink() else "is missing"
            raise FindingError("devel: path is not there", f"{path}: {node} {there}")
        _check_devel_path(tree, root, thin[:1], path, real)
    names = {str(place.relative_to(root)) for place in root.rglob("*")}
    if extra := sorted(names - set(tree.own)):
        raise FindingError("devel: extra path", extra[0])


def _check_loads(expected: Expected, tree: Tree, path: str, site: Path) -> None:
    """Check that the loader finds each library that it would find in the prefix, of those that are shipped."""
    place = site / tree.package.tree / path
    elf = read_elf(place.read_bytes())
    searched = [entry.replace("$ORIGIN", str(place.parent)) for entry in map(normal, elf.rpath or ())]
    for needed in elf.needed:
        wanted = [_in_prefix(expected, tree, directory, needed, elf.machine) for directory in tree.package.rpath]
        if any(wanted) and not any(_is_loadable(Path(one) / needed, needed, elf.machine) for one in searched):
            raise FindingError("need does not resolve", f"{tree.package.name}: {path} needs {needed}; {elf.rpath}")


def _in_prefix(expected: Expected, tree: Tree, directory: str, needed: str, machine: int) -> bool:
    """Whether a directory of the prefix has a library of that SONAME, and a package ships it."""
    owner, _, inside = directory.partition("/")
    path = f"{inside}/{needed}"
    there = [one for one in expected.trees.values() if one.package.tree == owner and path in one.own]
    if not there:
        return False
    of = there[0]
    real = of.resolve(path) if of.wants(path) else None
    file = of.file(real) if real else None
    if not real or not file or not isinstance(file.content, Elf):
        return False
    is_it = file.content.soname in (None, needed) and file.content.machine == machine and not file.content.program
    return is_it and any(one.wants(real) for one in expected.trees.values() if real in one.own)


def _is_loadable(place: Path, needed: str, machine: int) -> bool:
    if not place.is_file():
        return False
    elf = read_elf(place.read_bytes())
    return elf.machine == machine and elf.soname in (None, needed)


def check_index(expected: Expected, wheels: Mapping[str, Path], index: Path) -> None:
    """Check that the index lists each wheel with its digest and its metadata's: PEP 503, 658, 691."""
    for package in expected.sdk.packages:
        wheel = wheels[package.name]
        page = index / "simple" / package.distribution
        listed = json.loads((page / "index.json").read_text(encoding="utf-8"))["files"]
        data = wheel.read_bytes()
        metadata = (index / f"{wheel.name}.metadata").read_bytes()
        with zipfile.ZipFile(wheel) as archive:
            inside = next(archive.read(name) for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        facts = {
            "files": ([one["filename"] for one in listed], [wheel.name]),
            "digest": ([one["hashes"]["sha256"] for one in listed], [hashlib.sha256(data).hexdigest()]),
            "metadata": (metadata, inside),
            "core-metadata": ([one["core-metadata"]["sha256"] for one in listed], [hashlib.sha256(inside).hexdigest()]),
            "bytes": ((index / wheel.name).read_bytes(), data),
            "page": (hashlib.sha256(data).hexdigest() in (page / "index.html").read_text(encoding="utf-8"), True),
        }
        for what, (found, wanted) in facts.items():
            if found != wanted:
                raise FindingError("index", f"{wheel.name}: {what}: {found!r}; expected {wanted!r}")
