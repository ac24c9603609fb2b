"""Says of a wheel that no rule of this project made, or of a directory of them, what an index needs.

Each wheel gets NAME.whl.digest.json and NAME.whl.metadata, as link writes them beside its own wheels. The wheel is read
once, for its digest; of its members, only METADATA is inflated.
"""

import zipfile
import zlib
from dataclasses import dataclass
from lzma import LZMAError
from pathlib import Path

from lib.common.arguments import run_program
from lib.common.digest import Digest, file_sha256
from lib.common.program import ToolError

#: More than any project's description: what says that it is larger is no METADATA.
MAX_METADATA = 16 << 20


@dataclass(frozen=True)
class Arguments:
    """Arguments from the rule. A `str` is the path of a file, unless its comment says otherwise."""

    label: str
    wheels: Path  #: A wheel, or a directory of them.
    name_file: Path | None  #: Has the wheel's true name (PyWheelInfo).
    output: Path  #: Directory to fill.


def find_wheels(args: Arguments) -> dict[str, Path]:
    """Return the wheels by their true names. Raises ToolError where there is none, and for two of one name."""
    if not args.wheels.is_dir():
        name = args.name_file.read_text(encoding="utf-8").strip() if args.name_file else args.wheels.name
        return {name: args.wheels}
    if variants := sorted(path.name for path in args.wheels.rglob("*-variants.json")):
        raise ToolError(
            f"{args.wheels}: has {variants[0]}, so it is an index of wheel variants. Publish it as it is, or split "
            'with shape = "local-versions"'
        )
    found: dict[str, Path] = {}
    for path in sorted(args.wheels.rglob("*.whl")):
        if path.name in found:
            raise ToolError(f"{path}: {found[path.name]} has the same name; expected one file with this name")
        found[path.name] = path
    if not found:
        raise ToolError(f"{args.wheels}: contains no wheel (*.whl); expected one at least")
    return found


def read_metadata(path: Path, name: str) -> bytes:
    """Return METADATA of a wheel. Raises ToolError if it cannot be read."""
    try:
        with zipfile.ZipFile(path) as archive:
            places = [one for one in archive.infolist() if _is_metadata(one.filename)]
            if len(places) != 1 or places[0].file_size > MAX_METADATA:
                has = ", ".join(one.filename for one in places) or "none"
                raise ToolError(
                    f"{name}: expected one NAME-VERSION.dist-info/METADATA of a usual size; found {has}. Build the "
                    "wheel again"
                )
            return archive.read(places[0])
    except PermissionError:
        raise
    except (zipfile.BadZipFile, zlib.error, LZMAError, EOFError, OSError, RuntimeError, ValueError) as error:
        raise ToolError(f"{name}: expected a wheel, which is a zip archive: {error}. Build the wheel again") from None


def _is_metadata(path: str) -> bool:
    top, _, rest = path.partition("/")
    return top.endswith(".dist-info") and rest == "METADATA"


def describe(args: Arguments) -> None:
    """Write what is known of each wheel."""
    args.output.mkdir(parents=True, exist_ok=True)
    for name, path in find_wheels(args).items():
        digest = Digest(name, path.stat().st_size, file_sha256(path))
        digest.write(str(args.output / f"{name}.digest.json"))
        (args.output / f"{name}.metadata").write_bytes(read_metadata(path, name))


def main(argv: list[str]) -> int:
    """Describe the wheels."""
    return run_program(Arguments, argv, describe)
