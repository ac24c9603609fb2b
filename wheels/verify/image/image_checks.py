"""I101 and I102: the layers of an image fit together, and its packages are what is in them."""

import stat
import tarfile
from collections.abc import Iterator, Sequence
from typing import Final

from lib.common.paths import directories_above
from wheels.verify.checks.names import MODE, UNWANTED
from wheels.verify.finding import Finding, Rule, Severity
from wheels.verify.image.installed import Installed
from wheels.verify.image.layers import ImageTree
from wheels.verify.suite import Suite

HIDDEN = Rule(
    "I101",
    Severity.ERROR,
    "two layers have different files at one path",
    why="The upper one hides the other: a package of the lower layer is not what its RECORD says, and the hidden bytes "
    "are downloaded and stored by all who pull the image.",
    remedy="Let one layer have the file: make the layers of wheels that can be installed together, on a base without "
    "them.",
)
UNLISTED = Rule(
    "I102",
    Severity.WARNING,
    "a file that no package has",
    why="A layer of packages has it, but no RECORD lists it: nobody can verify it, and uninstalling leaves it.",
    remedy="Make the layer of a wheel that has the file.",
)
SUITE: Final = Suite(rules=(HIDDEN, UNLISTED))


def check_image(tree: ImageTree, distributions: Sequence[Installed]) -> Iterator[Finding]:
    """Look at the layers that are made of wheels."""
    for below, above in tree.hidden:
        if above.layer in tree.own_layers:
            layers = f"layers {below.layer + 1} and {above.layer + 1}"
            evidence = f"{layers}: {_described(below.content)} and {_described(above.content)}"
            yield HIDDEN.finding(tree.name, above.path, evidence)
    listed = frozenset(path for one in distributions for path in one.paths)
    for path, file in tree.files.items():
        if file.layer not in tree.own_layers or file.type == tarfile.DIRTYPE:
            continue
        if path not in listed and not any(parent in listed for parent in directories_above(path)):
            yield UNLISTED.finding(tree.name, path, f"layer {file.layer + 1} has it")
        if file.type == tarfile.REGTYPE and (mode := stat.S_IMODE(file.member.mode)) & UNWANTED:
            evidence = f"mode {mode:04o}; expected none of the bits {UNWANTED:04o}"
            yield MODE.finding(tree.name, path, evidence)


def _described(content: tuple[object, ...]) -> str:
    kind, link, size, crc32, mode = content
    if kind == tarfile.SYMTYPE:
        return f"a link to {link}"
    return f"{size} bytes with the CRC-32 {crc32:08x}, mode {stat.S_IMODE(int(str(mode))):04o}"
