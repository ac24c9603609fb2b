"""Writes one zip application (PEP 441) out of the sources of a build action's tool.

    zip_application.py @PARAMS      with the lines of PARAMS being
    --output=FILE  --main=MODULE  --import-root=RUNFILES_PATH…  RUNFILES_PATH=FILE…

Members are stored, sorted and dated 1980, and each module comes compiled as well
(PEP 552, unchecked hash): a build starts such a tool hundreds of times. The program
stands alone, because it is what assembles every other tool.
"""

import argparse
import marshal
import struct
import sys
import zipfile
from importlib.util import MAGIC_NUMBER, source_hash
from pathlib import PurePosixPath

#: What the tools are written for. Older interpreters stop at this file: any of them can read it, even Python 2.
MINIMUM = (3, 11)
#: Bazel adds the argument where it keeps the program, to ask for one thing after the other.
MAIN = """\
import sys
if sys.version_info < {minimum}:
    raise SystemExit("%s: needs Python {version} or newer, and %s is Python %s. Run it with a newer one" % (
        sys.argv[0], sys.executable or "the interpreter", ".".join(map(str, sys.version_info[:3]))))
from {module} import main
if sys.argv[1:] == ["--persistent_worker"]:
    from lib.common.worker import serve
    raise SystemExit(serve(main, sys.argv[0]))
raise SystemExit(main(sys.argv[1:]))
"""
#: Flags of a `.pyc` (PEP 552): valid by the hash of its source, which nobody checks.
HASH_BASED = 1
DOS_EPOCH = (1980, 1, 1, 0, 0, 0)


def archive_name(runfiles_path: str, import_roots: list[str]) -> str:
    """Return the name below the import root that holds it, else below its repository."""
    for root in sorted(import_roots, key=len, reverse=True):
        if runfiles_path.startswith(root + "/"):
            return runfiles_path[len(root) + 1 :]
    return runfiles_path.partition("/")[2]


def compiled(source: bytes, name: str) -> bytes:
    """Compiles a module to the bytes of a `.pyc` that is valid whatever the file's date."""
    code = compile(source, name, "exec", dont_inherit=True, optimize=0)
    return MAGIC_NUMBER + struct.pack("<L", HASH_BASED) + source_hash(source) + marshal.dumps(code)


def write_archive(output: str, members: dict[str, bytes]) -> None:
    """Write the members, each with its compiled form beside it."""
    with zipfile.ZipFile(output, "w", zipfile.ZIP_STORED) as archive:
        # Without these, zipimport before Python 3.13 does not find packages that have no __init__.py.
        for directory in sorted({f"{parent}/" for name in members for parent in PurePosixPath(name).parents} - {"./"}):
            archive.writestr(zipfile.ZipInfo(directory, DOS_EPOCH), b"")
        for name, source in sorted(members.items()):
            archive.writestr(zipfile.ZipInfo(name, DOS_EPOCH), source)
            if name.endswith(".py") and name != "__main__.py":
                archive.writestr(zipfile.ZipInfo(name + "c", DOS_EPOCH), compiled(source, name))


def main(argv: list[str]) -> int:
    """Parse the params file and write the archive."""
    parser = argparse.ArgumentParser(fromfile_prefix_chars="@")
    parser.add_argument("--output", required=True)
    parser.add_argument("--main", required=True)
    parser.add_argument("--import-root", action="append", default=[])
    parser.add_argument("sources", nargs="*")
    args = parser.parse_args(argv)
    version = ".".join(map(str, MINIMUM))
    members = {"__main__.py": MAIN.format(module=args.main, minimum=MINIMUM, version=version).encode()}
    for line in args.sources:
        runfiles_path, _, path = line.partition("=")
        with open(path, "rb") as file:
            members[archive_name(runfiles_path, args.import_root)] = file.read()
    write_archive(args.output, members)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
