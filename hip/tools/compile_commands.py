"""Writes how HIP sources are compiled to compile_commands.json at the top of the workspace, for clangd and other tools.

    bazel run //my:compile_commands

Run it again after a change of build files or options. Entries of other programs stay; entries of an earlier run are
replaced. Sources are listed as they are compiled for the host.
"""

import argparse
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lib.common.command import exit_codes, run_command
from lib.common.program import ToolError

#: The directory of HIP object files. It marks the entries that an earlier run wrote.
_OWN_OUTPUTS = "/_hip/"
#: A path below the execution root, which the workspace lacks: alone, after an option of one letter, or after `=`.
_PATH = re.compile(r"(-[A-Z]|[^=]*=)?(external|bazel-out)/")

Entry = dict[str, Any]


@dataclass(frozen=True)
class Places:
    """Paths of the workspace and of Bazel's directories."""

    workspace: Path
    execution_root: Path

    @classmethod
    def of(cls, workspace: Path, index: Path) -> "Places":
        """Find the execution root above a built file. Raises ToolError if the file is in no execution root."""
        path = str(index.resolve())
        root, found, _ = path.partition("/bazel-out/")
        if not found:
            raise ToolError(f"{path}: expected a file below bazel-out. Run this program with `bazel run`")
        return cls(workspace, Path(root))

    def absolute(self, argument: str) -> str:
        """Return a compiler argument whose path is valid in the workspace as well."""
        if not (found := _PATH.match(argument)):
            return argument
        path = argument[found.start(2) :]
        place = self._repository_path(path) if found[2] == "external" else self.execution_root / path
        return f"{found[1] or ''}{place}"

    def _repository_path(self, path: str) -> str:
        """Return where a file of an external repository is.

        Repositories may be gone from the execution root after the next build; in the output base they stay. If one is a
        directory of the user (local_path_override), that is what editors open.
        """
        external, name, *rest = path.split("/")
        repository = self.execution_root.parents[1] / external / name
        return "/".join([str(repository.resolve() if repository.is_symlink() else repository), *rest])


def read_index(places: Places, index: Path) -> Iterator[Entry]:
    """Yield an entry for each source in the index that `hip_compile_commands` wrote; duplicates are skipped."""
    seen = set()
    for library in json.loads(index.read_text(encoding="utf-8")):
        given = (places.execution_root / library["arguments"]).read_text(encoding="utf-8").splitlines()
        for source in library["sources"]:
            arguments = [library["compiler"], *given, *source["options"], "-c", source["file"], "-o", source["output"]]
            if source["file"] not in seen:
                seen.add(source["file"])
                yield {
                    "arguments": [places.absolute(argument) for argument in arguments],
                    "directory": str(places.workspace),
                    "file": places.absolute(source["file"]),
                    "output": places.absolute(source["output"]),
                }


def _others(file: Path, replaced: set[str]) -> list[Entry]:
    """Return the entries that other programs wrote. Raises ToolError if the file is not a compilation database."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        return [one for one in found if _OWN_OUTPUTS not in one.get("output", "") and one["file"] not in replaced]
    except FileNotFoundError:
        return []
    except (ValueError, TypeError, AttributeError, KeyError):
        raise ToolError(
            f"{file}: expected a list of entries, each with `file` (Clang's JSON compilation database). "
            "Remove the file, or mend it; nothing was written"
        ) from None


def update(file: Path, entries: list[Entry]) -> int:
    """Replace the entries of an earlier run in a database; return the number of other entries in it.

    The file is written whole or not at all. Raises ToolError if an existing file is not a compilation database.
    """
    others = _others(file, {entry["file"] for entry in entries})
    whole = sorted([*others, *entries], key=lambda one: (one["file"], one.get("output", "")))
    with tempfile.NamedTemporaryFile("w", dir=file.parent, prefix=f".{file.name}.", delete=False) as new:
        try:
            json.dump(whole, new, indent=1)
            new.write("\n")
            new.close()
            Path(new.name).chmod(0o644)
            os.replace(new.name, file)  # noqa: PTH105
        except BaseException:
            Path(new.name).unlink(missing_ok=True)
            raise
    return len(others)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="compile_commands",
        description=__doc__,
        epilog=exit_codes("compile_commands.json is written"),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--index", type=Path, required=True, metavar="JSON", help="the sources; the target gives it")
    index: Path = parser.parse_args(argv).index

    def work() -> None:
        workspace = os.environ.get("BUILD_WORKSPACE_DIRECTORY")
        if not workspace:
            raise ToolError("BUILD_WORKSPACE_DIRECTORY is not set. Run this program with `bazel run`, which sets it")
        file = Path(workspace, "compile_commands.json")
        entries = list(read_index(Places.of(Path(workspace), index), index))
        others = update(file, entries)
        print(f"{file}: {len(entries)} HIP sources" + (f", and {others} entries of other programs" if others else ""))

    return run_command("compile_commands", work)


if __name__ == "__main__":
    sys.exit(main())
