"""Where a path of a Debian package lies among artifacts: pure functions over table.py.

Paths are relative, without a leading `./`: paths of packages to the root of the file system, paths of artifacts to the
install prefix.
"""

import posixpath
import re

from lib.elf.library_name import parse_library_name
from tools.fetch.debian.table import LIBRARIES, PREFIXES, SYSDEPS, TARGET_IN_NAME, TARGET_SUFFIXES, UNWANTED, LayoutRule

#: Where ROCm keeps the system libraries that it brings along.
_SYSDEPS_PREFIX = "lib/rocm_sysdeps/"


def relocated(path: str, rule: LayoutRule) -> str | None:
    """Return where the install prefix has a path of a package; None for what no prefix has."""
    moved = next((new + path[match.end() :] for old, new in PREFIXES if (match := re.match(old, path))), None)
    if rule.base == SYSDEPS:
        # Of system libraries only the libraries themselves: their other files serve the system's programs.
        is_library = moved and posixpath.dirname(moved) == "lib" and parse_library_name(moved)
        return f"{_SYSDEPS_PREFIX}{moved}" if is_library else None
    return None if moved is None or f"{moved}/".startswith(UNWANTED) else moved


def target_of(path: str, rule: LayoutRule) -> str:
    """Return the GPU target that a file is for; `generic` if it is for none, or for several."""
    named = set(TARGET_IN_NAME.findall(posixpath.basename(path))) if path.endswith(TARGET_SUFFIXES) else set()
    is_code = len(named) == 1 and rule.artifact in LIBRARIES and rule.component == "lib"
    return str(named.pop()) if is_code else "generic"


def artifact_of(path: str, rule: LayoutRule) -> str:
    """Return the name of the artifact, `{name}_{component}_{target}`, that a file of a package goes to."""
    return f"{rule.artifact}_{rule.component}_{target_of(path, rule)}"


def link_goal(path: str, text: str) -> str:
    """Return what a link of a package leads to, as a path from the root of the file system."""
    return posixpath.normpath(posixpath.join("/", posixpath.dirname(path), text)).lstrip("/")


def link_text(path: str, goal: str) -> str:
    """Return the text of a link at `path` that leads to `goal`, both in the prefix."""
    return posixpath.relpath(goal, posixpath.dirname(path) or ".")


def licence_of(path: str) -> str:
    """Return the package whose licences a path is, or leads to: `usr/share/doc/{package}/copyright`; else empty."""
    match = re.fullmatch(r"usr/share/doc/([^/]+)(/copyright)?", path)
    return match[1] if match else ""


def licence_path(package: str, artifact: str) -> str:
    """Return where an artifact has the licences of a package; each target has a place of its own."""
    target = artifact.rpartition("_")[2]
    return f"share/doc/{package if target == 'generic' else f'{package}-{target}'}/copyright"


#: A directory of libraries for one architecture ("multiarch"), behind the `lib` that it is in.
_TRIPLET = rb"(?<=/lib)/[a-z0-9_]+-linux-gnu(?:abi[a-z0-9]+)?(?=[/\" )])"
#: Files that name it below their own prefix.
_EVERYWHERE = ((_TRIPLET, b""), (rb"(?<=[\"']lib)/[a-z0-9_]+-linux-gnu(?=/)", b""))
#: How CMake files find their prefix, from the directory that they are in: files of a multiarch directory take one step
#: less, and files that name Debian's prefix take it from where they are.
_CMAKE = (
    # One of a row of equal lines, each of which goes up a directory.
    (
        rb"get_filename_component\((\w+) \"\$\{\1\}\" PATH\)\n((?:get_filename_component\(\1 \"\$\{\1\}\" PATH\)\n)+)",
        rb"\2",
    ),
    (rb"(?<=\}/)\.\./(?=(?:\.\./){2,}\" ABSOLUTE\))", b""),
    (
        rb"set\((_IMPORT_PREFIX|HIP_CLANG_ROOT) \"/usr\"\)",
        rb'get_filename_component(\1 "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)',
    ),
    (rb"\"/usr/lib/llvm-[0-9]+/", b'"${CMAKE_CURRENT_LIST_DIR}/../../llvm/'),
)


def is_text_to_mend(path: str) -> bool:
    """Whether a path of a package may be a text that `edited` changes."""
    return path.endswith((".cmake", ".py"))


def edited(path: str, content: bytes) -> bytes:
    """Return the content that a text has where it has moved."""
    if path.endswith(".cmake") and re.match(r"usr/lib/[a-z0-9_]+-linux-gnu", path):
        for pattern, replacement in _CMAKE:
            content = re.sub(pattern, replacement, content)
    for pattern, replacement in _EVERYWHERE:
        content = re.sub(pattern, replacement, content)
    return content
