"""Pastes the commands of a page into a shell, in the page's order, as a reader would.

    python3 -m tests.docs.pasted docs/tutorial.md examples/*/README.md

Run it from the top of the workspace. All blocks of `sh` of a page run in one shell, which stops at the first failure.
The page's `/tmp` is a directory that is removed at the end. If there is no `bazel` on PATH, `bazelw` replaces it.
A line of a block that ends in `# prints TEXT` must print that.
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
PROMISE: Final = re.compile(r"^(?P<command>.*\S)\s+# prints (?P<text>.+)$")


def script(page: str, scratch: str) -> str:
    """Return the commands of a page's text as a script, with another directory instead of `/tmp`.

    Raises ValueError if there are none.
    """
    blocks = re.findall(r"^```sh\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    if not blocks:
        raise ValueError("no block of sh")
    lines = [_checked(line) for block in blocks for line in block.splitlines()]
    return "\n".join(["set -eu", "set -x", *lines, ""]).replace("/tmp/", f"{scratch}/")


def _checked(line: str) -> str:
    """Return a line, with a check of what it promises to print."""
    promise = PROMISE.match(line)
    return f'test "$({promise["command"]})" = "{promise["text"]}"' if promise else line


def paste(page: Path) -> int:
    """Run the commands of a page, and return the shell's exit status."""
    with tempfile.TemporaryDirectory(prefix="pasted-") as scratch:
        programs = Path(scratch, "bin")
        programs.mkdir()
        path = os.environ["PATH"]
        if not shutil.which("bazel"):
            # bazelw looks for a Bazel on PATH, and must not find this one.
            (programs / "bazel").write_text(f'#!/bin/sh\nPATH={path} exec {WORKSPACE}/bazelw "$@"\n')
            (programs / "bazel").chmod(0o755)
        command = ["bash", "-c", script(page.read_text(encoding="utf-8"), scratch)]
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
    parser.add_argument("pages", nargs="+", type=Path)
    failed = [page for page in parser.parse_args(argv).pages if paste(page)]
    for page in failed:
        print(f"ERROR: {page}: a command failed, see above", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
