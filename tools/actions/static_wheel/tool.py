"""Writes a wheel of small files, with fixed requirements: of pure Python, it stands for an sdist that cannot be run.

    static_wheel --label TARGET --project JSON --description README --extra NAME=REQUIREMENT…
                 --console-script NAME=REFERENCE… --wheel OUT --metadata OUT --digest OUT
                 [--variant OUT --variant-target TARGET…] WHEEL_PATH=FILE…

An sdist chooses its requirements where it is installed; lock files and locked-down hosts want
them known before. A wheel variant, whose file name ends in a label, chooses by the machine's GPU: an installer takes
it where one of its targets is. As for all wheels, the writer is `lib.wheel.wheel_writer`.
"""

from dataclasses import dataclass
from pathlib import Path

from lib.common.digest import Digest
from lib.common.program import (
    ToolError,
    argument_parser,
    file_arguments,
    read_document,
    report_errors,
)
from lib.variants.variant_format import VARIANT_JSON, check_label, split_label, variant_json
from lib.wheel.metadata_writer import Project, core_metadata, entry_points_text, wheel_text, with_extras
from lib.wheel.wheel_writer import WheelMember, text_member, write_wheel

#: For every machine and Python 3, which the code supports from the version on that Requires-Python says.
TAG = "py3-none-any"


@dataclass(frozen=True)
class Arguments:
    """The command line; `--help` says what each argument is."""

    label: str
    project: str
    description: str
    extra: list[str]
    console_script: list[str]
    wheel: str
    metadata: str
    digest: str
    variant: str | None
    variant_target: list[str]
    files: list[str]


def _pairs(arguments: list[str]) -> list[tuple[str, str]]:
    """Split arguments NAME=VALUE at the first `=`: names hold none."""
    return [(name, value) for name, _, value in (argument.partition("=") for argument in arguments)]


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
    files = file_arguments(args.files)
    project = with_extras(Project.from_document(read_document(args.project)), args.extra)
    metadata = core_metadata(project, Path(args.description).read_text(encoding="utf-8"))
    wheel = Path(args.wheel)
    dist_info = "-".join(wheel.name.split("-")[:2]) + ".dist-info"
    tag = "-".join(wheel.name.removesuffix(".whl").split("-")[2:5])
    texts = {f"{dist_info}/METADATA": metadata, f"{dist_info}/WHEEL": wheel_text(tag, purelib=tag == TAG)}
    if args.console_script:
        texts[f"{dist_info}/entry_points.txt"] = entry_points_text(_pairs(args.console_script))
    if args.variant:
        texts[f"{dist_info}/{VARIANT_JSON}"] = _variant(wheel.name, args.variant_target)
        Path(args.variant).write_text(texts[f"{dist_info}/{VARIANT_JSON}"], encoding="utf-8")
    members: list[WheelMember] = [
        text_member(name.replace("{dist_info}", dist_info), Path(path).read_bytes()) for name, path in files.items()
    ]
    members += [text_member(name, text.encode()) for name, text in texts.items()]
    with wheel.open("wb") as file:
        archive = write_wheel(file, members, dist_info)
    Path(args.metadata).write_text(metadata, encoding="utf-8")
    Digest(wheel.name, archive.size, archive.sha256).write(args.digest)


def main(argv: list[str]) -> int:
    """Parse the arguments and write."""
    parser = argument_parser(__doc__)
    parser.add_argument("--label", required=True, help="Bazel target, named in errors")
    parser.add_argument("--project", required=True, help="JSON file: the distribution's metadata")
    parser.add_argument("--description", required=True, help="Markdown file: the long description")
    parser.add_argument(
        "--extra", action="append", default=[], metavar="NAME=REQUIREMENT", help="a requirement of an extra"
    )
    parser.add_argument(
        "--console-script", action="append", default=[], metavar="NAME=REFERENCE", help="object reference of a script"
    )
    parser.add_argument("--wheel", required=True, help="wheel to write")
    parser.add_argument("--metadata", required=True, help="core metadata to write, as PEP 658 serves it")
    parser.add_argument("--digest", required=True, help="JSON file to write: filename, size, sha256")
    parser.add_argument("--variant", metavar="OUT", help="variant.json to write; makes the wheel a wheel variant")
    parser.add_argument(
        "--variant-target", action="append", default=[], metavar="TARGET", help="a GPU target of the wheel variant"
    )
    parser.add_argument("files", nargs="*", metavar="WHEEL_PATH=FILE", help="files of the wheel")
    args = Arguments(**vars(parser.parse_args(argv)))
    return report_errors(args.label, lambda: write(args))
