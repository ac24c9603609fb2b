"""What the oracle expects of an SDK, as data: the files of each package, or why it has to be refused."""

import posixpath
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tests.pipeline.file_rules import has_code, is_form, kept_code, loads, matches, named_targets
from tests.pipeline.sdk import Content, Directory, Elf, File, Form, Node, Other, Package, Sdk

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


def parents(path: str) -> list[str]:
    """Return the directories above a relative path."""
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


def is_foreign(expected: Expected, content: Content | None) -> bool:
    """Whether a program or a library is for another CPU than the build."""
    if isinstance(content, Other) and content.form not in (Form.STATIC, Form.FAT_LIBRARY):
        return False
    return isinstance(content, Elf | Other) and content.machine != expected.sdk.settings.machine


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
