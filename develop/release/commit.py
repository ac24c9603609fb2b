"""Reads what a release needs of a commit: git's archive, the date, and the fields of MODULE.bazel."""

import ast
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from lib.common.program import ToolError

#: Nothing of the machine's own configuration changes the archive: no mode, no line ending, no attribute.
NEUTRAL = ("-c", "tar.umask=0022", "-c", "core.autocrlf=false", "-c", "core.attributesFile=/dev/null")


@dataclass(frozen=True)
class Commit:
    """A commit of a repository, the only source of a release: what is not committed is in none."""

    repository: Path
    #: Its full hexadecimal name.
    name: str

    @classmethod
    def find(cls, repository: Path, revision: str) -> "Commit":
        """Look a revision up, as `HEAD` or a tag. Raises ToolError if there is none."""
        name = _git(repository, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}").decode().strip()
        return cls(repository, name)

    def read(self, path: str) -> str:
        """Return a text file of the commit."""
        return _git(self.repository, "show", f"{self.name}:{path}").decode()

    def date(self) -> int:
        """Return when it was committed, in seconds since 1970: the date of all members of archives."""
        return int(_git(self.repository, "show", "--no-patch", "--format=%ct", self.name))

    def tar(self, prefix: str) -> bytes:
        """Return the tar archive of all that .gitattributes does not leave out, below the directory `prefix`."""
        return _git(self.repository, *NEUTRAL, "archive", "--format=tar", f"--prefix={prefix}/", self.name)

    def check_tag(self, tag: str) -> None:
        """Raise ToolError if the tag of the release is there and is another commit's."""
        tagged = _git(self.repository, "tag", "--list", "--format=%(objectname)%(*objectname)", tag).decode()
        if tagged and not tagged.strip().endswith(self.name):
            raise ToolError(
                f"the tag {tag} is not commit {self.name}; expected the release of the version that MODULE.bazel "
                f"declares. Set another version in MODULE.bazel, or give --commit={tag}"
            )


def _git(repository: Path, *arguments: str) -> bytes:
    """Run git. Raises ToolError with what it printed if it fails."""
    environment = os.environ | {"GIT_ATTR_NOSYSTEM": "1"}
    result = subprocess.run(["git", *arguments], cwd=repository, env=environment, capture_output=True, check=False)
    if result.returncode:
        printed = result.stderr.decode().strip() or "there is no such revision"
        raise ToolError(f"git {' '.join(arguments)} in {repository}: {printed}. Name a commit of this clone")
    return result.stdout


def declared_module(text: str) -> tuple[str, str]:
    """Return name and version that a MODULE.bazel declares; its syntax is Python's. Raises ToolError if it has none."""
    for node in ast.parse(text).body:
        call = node.value if isinstance(node, ast.Expr) else None
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "module":
            given = {one.arg: one.value.value for one in call.keywords if isinstance(one.value, ast.Constant)}
            name, version = given.get("name"), given.get("version")
            if isinstance(name, str) and isinstance(version, str):
                return name, version
    raise ToolError("MODULE.bazel: no name or version; expected `module(name = …, version = …)` with strings")
