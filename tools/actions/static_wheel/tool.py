"""Writes a wheel of small files, with fixed requirements: of pure Python, it stands for an sdist that cannot be run.

An sdist chooses its requirements where it is installed; lock files and locked-down hosts want
them known before. A wheel variant, whose file name ends in a label, chooses by the machine's GPU: an installer takes
it where one of its targets is. As for all wheels, the writer is `lib.wheel.wheel_writer`.
"""

from dataclasses import dataclass
from pathlib import Path

from lib.common.arguments import run_program
from lib.common.digest import Digest
from lib.common.program import ToolError, read_document
from lib.wheel.metadata_writer import Project, core_metadata, entry_points_text, wheel_text, with_extras
from lib.wheel.variant_format import VARIANT_JSON, check_label, split_label, variant_json
from lib.wheel.wheel_writer import WheelMember, text_member, write_wheel

#: For every machine and Python 3, which the code supports from the version on that Requires-Python says.
TAG = "py3-none-any"


@dataclass(frozen=True)
class Arguments:
    """Arguments from the rule. A `str` is the path of a file, unless its comment says otherwise."""

    label: str
    project: str  #: The distribution's metadata.
    description: str  #: The long description, in Markdown.
    extra: list[str]  #: NAME=REQUIREMENT: requirements of extras.
    console_script: dict[str, str]  #: Object references of scripts.
    wheel: str  #: Wheel to write.
    metadata: str  #: Core metadata to write, as PEP 658 serves it.
    digest: str  #: JSON file to write: filename, size, SHA-256.
    variant: str | None  #: The `variant.json` to write; makes the wheel a wheel variant.
    variant_target: list[str]  #: GPU targets of the wheel variant.
    file: dict[str, str]  #: Files by their paths in the wheel.


def _variant(filename: str, targets: list[str]) -> str:
    """Return `variant.json` of a wheel for machines with one of these GPU targets; raises ToolError for a bad label."""
    label = split_label(filename)[1]
    try:
        check_label(label)
    except ValueError as error:
        raise ToolError(f"variant: {error}") from None
    return variant_json(label, targets).decode()


def write(args: Arguments) -> None:
    """Write the wheel, its metadata and its digest."""
    project = with_extras(Project.from_document(read_document(args.project)), args.extra)
    metadata = core_metadata(project, Path(args.description).read_text(encoding="utf-8"))
    wheel = Path(args.wheel)
    dist_info = "-".join(wheel.name.split("-")[:2]) + ".dist-info"
    tag = "-".join(wheel.name.removesuffix(".whl").split("-")[2:5])
    texts = {f"{dist_info}/METADATA": metadata, f"{dist_info}/WHEEL": wheel_text(tag, purelib=tag == TAG)}
    if args.console_script:
        texts[f"{dist_info}/entry_points.txt"] = entry_points_text(list(args.console_script.items()))
    if args.variant:
        texts[f"{dist_info}/{VARIANT_JSON}"] = _variant(wheel.name, args.variant_target)
        Path(args.variant).write_text(texts[f"{dist_info}/{VARIANT_JSON}"], encoding="utf-8")
    members: list[WheelMember] = [
        text_member(name.replace("{dist_info}", dist_info), Path(path).read_bytes()) for name, path in args.file.items()
    ]
    members += [text_member(name, text.encode()) for name, text in texts.items()]
    with wheel.open("wb") as file:
        archive = write_wheel(file, members, dist_info)
    Path(args.metadata).write_text(metadata, encoding="utf-8")
    Digest(wheel.name, archive.size, archive.sha256).write(args.digest)


def main(argv: list[str]) -> int:
    """Write the wheel."""
    return run_program(Arguments, argv, write)
