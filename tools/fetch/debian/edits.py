r"""Mends texts that say where Debian has something: CMake files and a few scripts, which would look in vain elsewhere.

    content = edited("usr/lib/x86_64-linux-gnu/cmake/hip/hip-config.cmake", content)

Libraries move from `lib/x86_64-linux-gnu/` to `lib/`, so CMake files lie one directory higher than they think.
"""

import re

#: A directory of libraries for one architecture ("multiarch"), behind the `lib` that it is in.
_TRIPLET = rb"(?<=/lib)/[a-z0-9_]+-linux-gnu(?:abi[a-z0-9]+)?(?=[/\" )])"
#: Files that name it below their own prefix.
_EVERYWHERE = ((_TRIPLET, b""), (rb"(?<=[\"']lib)/[a-z0-9_]+-linux-gnu(?=/)", b""))
#: How CMake files find their prefix, from the directory that they are in: those of a multiarch directory take one step
#: less, and those that name Debian's prefix take it from where they are.
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
