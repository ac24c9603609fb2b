"""Tells how the dynamic loader of the system it runs in sees one program or library. Part of `tools.lib.elf.survey`.

    python3 probe.py FILE library|program

Prints JSON: `searched` (the search paths that the loader took from the file itself, by LD_DEBUG=libs), `found` (where
it found each needed library), `outcome` (what ctypes.CDLL, or the program's --version, gave). It needs only Python.
"""

import ctypes
import hashlib
import json
import os
import re
import subprocess
import sys

LOADER = {"x86_64": "/lib64/ld-linux-x86-64.so.2", "aarch64": "/lib/ld-linux-aarch64.so.1"}[os.uname().machine]
SEARCH = re.compile(r"search path=(.*?)\s*\((RPATH|RUNPATH) from file (.*)\)$")
#: Directories that the loader looks for in each directory of a search path, for processors with certain features.
HARDWARE = re.compile(r"/(glibc-hwcaps/.*|tls(/.*)?|x86_64(/.*)?|haswell(/.*)?|atomics(/.*)?)$")
SECONDS = 20


def run(command: list[str], **variables: str) -> tuple[object, bytes, str]:
    """Run a command; returns its status (or why there is none), output and errors."""
    try:
        environment = {**os.environ, **variables}
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, env=environment, check=False
        )
    except subprocess.TimeoutExpired:
        return "timeout", b"", ""
    except OSError as error:
        return f"OSError {error.errno}", b"", ""
    return done.returncode, done.stdout, done.stderr.decode(errors="replace")


def searched(path: str, log: str) -> list[tuple[str, list[str]]]:
    """Pick from the loader's log the search paths of this file: their kind and their directories, in order."""
    found = []
    for line in log.splitlines():
        match = SEARCH.search(line)
        if match and os.path.realpath(match[3]) == os.path.realpath(path):
            folders = [os.path.normpath(HARDWARE.sub("", folder)) for folder in match[1].split(":")]
            found.append((match[2], list(dict.fromkeys(folders))))
    return found


def probe(path: str, kind: str) -> dict[str, object]:
    """Ask the loader about one file, then use it."""
    status, listing, log = run([LOADER, "--list", path], LD_DEBUG="libs")
    found = sorted(
        re.sub(r"\(0x[0-9a-f]+\)", "", line.strip()) for line in listing.decode(errors="replace").splitlines()
    )
    if kind == "library":
        use = run([sys.executable, __file__, path])
        outcome = [use[0], use[2].strip().splitlines()[-1:] if use[0] else ""]
    else:
        use = run([path, "--version"])
        outcome = [use[0], hashlib.sha256(use[1]).hexdigest()]
    return {"searched": searched(path, log), "found": [status, found], "outcome": outcome}


if __name__ == "__main__":
    if len(sys.argv) == 2:
        ctypes.CDLL(sys.argv[1])
    else:
        print(json.dumps(probe(*sys.argv[1:3])))
