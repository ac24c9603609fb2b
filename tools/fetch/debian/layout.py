"""Where a path of a Debian package lies among artifacts: pure functions over table.py.

Paths are relative, without a leading `./`: those of packages to the root of the file system, those of artifacts to the
install prefix.
"""

import posixpath
import re

from tools.fetch.debian.table import LIBRARIES, PREFIXES, SYSDEPS, TARGET_IN_NAME, TARGET_SUFFIXES, UNWANTED, Rule

#: Where ROCm keeps the system libraries that it brings along.
_SYSDEPS_PREFIX = "lib/rocm_sysdeps/"


def relocated(path: str, rule: Rule) -> str | None:
    """Return where the install prefix has a path of a package; None for what no prefix has."""
    moved = next((new + path[match.end() :] for old, new in PREFIXES if (match := re.match(old, path))), None)
    if rule.base == SYSDEPS:
        # Of system libraries only the libraries themselves: their other files serve the system's programs.
        return _SYSDEPS_PREFIX + moved if moved and re.fullmatch(r"lib/[^/]+\.so(\.[^/]*)?", moved) else None
    return None if moved is None or f"{moved}/".startswith(UNWANTED) else moved


def target_of(path: str, rule: Rule) -> str:
    """Return the GPU target that a file is for; `generic` if it is for none, or for several."""
    named = set(TARGET_IN_NAME.findall(posixpath.basename(path))) if path.endswith(TARGET_SUFFIXES) else set()
    is_code = len(named) == 1 and rule.artifact in LIBRARIES and rule.component == "lib"
    return str(named.pop()) if is_code else "generic"


def artifact_of(path: str, rule: Rule) -> str:
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
