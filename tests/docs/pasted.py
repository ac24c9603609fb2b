"""Pastes the commands of pages into a shell, as a reader would.

    python3 -m tests.docs.pasted docs/sdk/tutorial.md examples/*/README.md
    python3 -m tests.docs.pasted README.md#a-package-of-your-own

Run it from the top of the workspace. All blocks of `sh` of a page, or of one
section, run in one shell, which stops at the first failure. A block of another
language whose first line is a comment with a file's name is written to that
file. The page's `/tmp` is a directory that is removed at the end; with
`--artifacts`, it has a copy of these as `artifacts`. A line of a block that
ends in `# prints TEXT` must print that. `bazel` is `bazelw`.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

WORKSPACE: Final = Path(__file__).resolve().parents[2]
BLOCK: Final = re.compile(
    r"^```(?:sh\n(?P<sh>.*?)|(?:starlark|cpp)\n(?:#|//) (?P<name>[\w.]+)\n(?P<text>.*?))^```$", re.M | re.S
)
PROMISE: Final = re.compile(r"^(?P<command>.*\S)\s+# prints (?P<text>.+)$")


def script(page: str, scratch: str) -> str:
    """Return the commands of a page's text as a script, with another directory instead of `/tmp`.

    Raises ValueError if there are none.
    """
    blocks = [*BLOCK.finditer(page)]
    if not any(block["sh"] for block in blocks):
        raise ValueError("no block of sh")
    lines: list[str] = []
    for block in blocks:
        if block["name"]:
            lines.append(f"cat > {block['name']} <<'EOF'\n{block['text']}EOF")
        else:
            lines += map(_checked, block["sh"].splitlines())
    return "\n".join(["set -eu", "set -x", *lines, ""]).replace("/tmp/", f"{scratch}/")


def section(page: str, anchor: str) -> str:
    """Return the part of a page's text below the headline of level 2 with this anchor; without an anchor, all of it.

    Raises ValueError if there is no such headline.
    """
    for part in re.split(r"^(?=## )", page, flags=re.MULTILINE) if anchor else ():
        if part.partition("\n")[0].removeprefix("## ").lower().replace(" ", "-") == anchor:
            return part
    if anchor:
        raise ValueError(f"no section {anchor!r}")
    return page


def _bazel(path: str) -> str:
    """Return a program that calls `bazelw`, which looks for a Bazel on `path` and must not find this program."""
    return f'#!/bin/sh\nPATH={path} exec {WORKSPACE}/bazelw "$@"\n'


def _checked(line: str) -> str:
    """Return a line, with a check of what it promises to print."""
    promise = PROMISE.match(line)
    return f'test "$({promise["command"]})" = "{promise["text"]}"' if promise else line


def paste(page: str, artifacts: Path | None = None) -> int:
    """Run the commands of a page, `PATH` or `PATH#ANCHOR`, and return the shell's exit status."""
    file, _, anchor = page.partition("#")
    text = section(Path(file).read_text(encoding="utf-8"), anchor)
    with tempfile.TemporaryDirectory(prefix="pasted-") as scratch:
        programs = Path(scratch, "bin")
        programs.mkdir()
        path = os.environ["PATH"]
        (programs / "bazel").write_text(_bazel(path))
        (programs / "bazel").chmod(0o755)
        if artifacts:
            shutil.copytree(artifacts, Path(scratch, "artifacts"))
        command = ["bash", "-c", script(text, scratch)]
        variables = os.environ | {"PATH": f"{programs}:{path}"}
        try:
            return subprocess.run(
                command, cwd=WORKSPACE, env=variables, stdin=subprocess.DEVNULL, check=False
            ).returncode
        finally:
            for module in Path(scratch).glob("*/MODULE.bazel"):
                # Bazel keeps what it built for a workspace elsewhere, and a server that waits.
                subprocess.run(["bazel", "clean", "--expunge"], cwd=module.parent, env=variables, check=False)


def main(argv: list[str]) -> int:
    """Paste each page, and say which did not work."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="+", help="PATH, or PATH#ANCHOR for one section")
    parser.add_argument("--artifacts", type=Path, help="what pages call /tmp/artifacts")
    options = parser.parse_args(argv)
    failed = [page for page in options.pages if paste(page, options.artifacts)]
    for page in failed:
        print(f"ERROR: {page}: a command failed, see above", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
