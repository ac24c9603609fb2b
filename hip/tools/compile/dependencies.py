"""Which files a compilation read, as clang lists them, and which of them no target declares.

clang writes a rule of make: the files that the source includes, those that it only looks for (`__has_include`), and
the source itself. Paths are as the compiler found them, relative to the execution root or absolute.
"""

import os
import posixpath
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lib.common.program import ToolError

#: What the rule is for. The name of an output would need escapes of its own.
TARGET = "dependencies"
#: An inclusion as clang shows it (`-H`): how deep it is, in dots, and the file.
_INCLUSION = re.compile(r"^(\.+) (.+)$", re.MULTILINE)
#: Directives of inline assembly that read files.
_DIRECTIVE = re.compile(rb"\.inc(?:bin|lude)\b")
#: Parts of a rule: a line that goes on, a blank or `#` with backslashes before it, a dollar, the end, and the rest.
_PART = re.compile(r"\\\n|\\+ |\\#|\$\$|[ \n]|[^\\$ \n]+|.", re.DOTALL)


def read_rule(text: str) -> list[str]:
    """Return the prerequisites of the first rule of a makefile that clang wrote. Raises ToolError if there is none."""
    before, colon, rest = text.partition(f"{TARGET}:")
    if before or not colon:
        raise ToolError(
            f"expected a list of dependencies of clang, which begins with {TARGET}:, and found {text[:40]!r}. Remove "
            "options about dependency files"
        )
    names, name = [], ""
    for part in _PART.findall(rest):
        backslashes = len(part) - 1
        if part in (" ", "\n", "\\\n") or (part.endswith("\\ ") and backslashes % 2 == 0):
            names.append(name + "\\" * (backslashes // 2 if part[-1] == " " else 0))
            name = ""
            if part == "\n":
                break
        elif part.endswith("\\ "):
            name += "\\" * (backslashes // 2) + " "
        else:
            name += part[1:] if part in ("\\#", "$$") else part
    return [one for one in (*names, name) if one]


def place_of(path: str, root: str) -> str:
    """Return the path that a file has as an input: without `.` and `..`, and relative if it is below the root.

    `..` behind a link to a directory leads elsewhere than the text says: then the file's real path counts.
    """
    place = posixpath.normpath(path)
    if ".." in path.split("/") and not (Path(place).exists() and Path(place).samefile(path)):
        place = os.path.realpath(path)
    place = re.sub("^//+", "/", place)
    # A worker of remote execution may make the execution root its `/`, and put the machine's own files there, too.
    return place if root == "/" else place.removeprefix(f"{root}/")


def read_includers(text: str, root: str) -> dict[str, str]:
    """Return which header includes another one, by what clang shows of inclusions (`-H`)."""
    stack: list[str] = []
    found: dict[str, str] = {}
    for dots, path in _INCLUSION.findall(text):
        stack[len(dots) - 1 :] = [place_of(path, root)]
        if len(stack) > 1:
            found.setdefault(stack[-1], stack[-2])
    return found


@dataclass(frozen=True)
class Declared:
    """The headers that targets declare, and the directories whose headers need no target."""

    #: In their order. Directories end with `/`.
    headers: Sequence[str]
    system: Sequence[str]

    @classmethod
    def read(cls, listed: Path, system: Iterable[str]) -> "Declared":
        """Read a list of headers, one a line."""
        lines = os.fsdecode(listed.read_bytes()).split("\n")
        return cls([line for line in lines if line], [posixpath.normpath(one) for one in system])

    def undeclared(self, used: Iterable[str]) -> list[str]:
        """Return the files that no target declares, sorted."""
        headers = frozenset(self.headers)
        directories = [one for one in self.headers if one.endswith("/")]
        allowed = (*directories, *(f"{one}/" for one in self.system))
        return sorted(one for one in used if one not in headers and not one.startswith(allowed))

    def unused(self, source: str, used: Iterable[str]) -> list[str]:
        """Return the headers of which no change can change what was compiled.

        clang lists a file once that it read by several names, such as links to it, and workers of remote execution may
        keep equal files as one: so headers that are the same file as a used one count as used. It does not list what
        inline assembly reads: if there may be such, all count as used.
        """
        names = frozenset(used)
        included = [header for header in self.headers if header in names]
        if any(_DIRECTIVE.search(Path(name).read_bytes()) for name in (source, *included)):
            return []
        read = {_identity(header) for header in included}
        return [
            header
            for header in self.headers
            # Bazel takes no directories, and strips blanks off the lines of such a list.
            if not header.endswith("/") and header == header.strip() and _identity(header) not in read
        ]


def _identity(path: str) -> tuple[int, int] | str:
    """Return by what a file is told apart from others, whatever its names; its name if there is no such file."""
    try:
        status = os.stat(path)  # noqa: PTH116
    except OSError:
        return path
    return status.st_dev, status.st_ino
