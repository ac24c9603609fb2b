"""Splits a wheel with device code for many AMD GPUs into wheels for some GPUs.

The wheel that you give is never changed. Each new wheel keeps the code that its
GPUs can load, bit by bit, and leaves out the rest.
"""

import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lib.common.command import FOUND, CannotRunError, CommandParser, exit_codes, run_command
from lib.common.program import named, printable, size_text
from lib.wheel.variant_format import DRAFT, SCHEMA
from wheels.common.copying import add_wheel_arguments
from wheels.common.output_directory import check_free, publish, scratch_directory
from wheels.common.sound_wheel import SoundWheel, read_sound_wheel
from wheels.split.device_files import parse_groups
from wheels.split.plan import ThinWheel, plan_local_versions, plan_wheel_variants
from wheels.split.write import write_flat_index, write_thin_wheels

EPILOG = f"""shapes:
  local-versions  A complete wheel for each item of --targets, in its own
                  directory, with a local version:
                    DIR/gfx1100/acme-1.0+gfx1100-cp312-cp312-linux_x86_64.whl
                  pip install acme --find-links DIR/gfx1100 prefers it to the
                  fat wheel, because 1.0+gfx1100 is newer than 1.0.
  wheel-variants  A complete wheel for each item, with the same version, all in
                  one directory with the fat wheel and a list of them:
                    DIR/acme-1.0-cp312-cp312-linux_x86_64-gfx1100.whl
                    DIR/acme-1.0-variants.json
                  An installer that knows wheel variants chooses by the
                  machine's GPU. Any other takes the fat wheel. This follows
                  {DRAFT},
                  {SCHEMA}

examples:
  rocm-wheels split acme-1.0-*.whl --targets gfx942,gfx1100 --output thin
  # a family: one wheel for all of its GPUs
  rocm-wheels split *.whl --targets gfx110X-all --output thin
  rocm-wheels split *.whl --targets gfx942 --output thin --whole 'acme/tests/*'

A GPU loads code for its own processor, code for a generic processor that covers
it (gfx11-generic), and SPIR-V: wheels keep all of these. Files are dated 1980,
or by SOURCE_DATE_EPOCH: equal wheels give equal bytes.

{exit_codes("all thin wheels were written", "a wheel is damaged, or cannot be split: nothing was written")}"""

WHEEL_VARIANTS = "wheel-variants"
SHAPES = {"local-versions": plan_local_versions, WHEEL_VARIANTS: plan_wheel_variants}


@dataclass(frozen=True)
class Arguments:
    """The command line; `--help` says what each argument is."""

    wheels: list[Path]
    targets: str
    output: Path
    shape: str
    whole: list[str]
    rewrite_record: bool
    compression: str


def parser() -> CommandParser:
    """Make the command line parser."""
    result = CommandParser("rocm-wheels split", description=__doc__, epilog=EPILOG)
    result.add_argument("wheels", nargs="+", type=Path, metavar="WHEEL", help="a wheel with device code for many GPUs")
    result.add_argument("--targets", required=True, metavar="LIST", help="GPU targets and families, split by commas")
    result.add_argument("--output", required=True, type=Path, metavar="DIR", help="where to write the thin wheels")
    result.add_argument(
        "--shape", choices=tuple(SHAPES), default="local-versions", help="see below (default: %(default)s)"
    )
    result.add_repeated("--whole", "PATTERN", "keep the code for all GPUs in files whose paths match; may be repeated")
    add_wheel_arguments(result)
    return result


def check_places(plans: Sequence[ThinWheel]) -> None:
    """Raise ToolError if two thin wheels have one place."""
    place, count = Counter(plan.place for plan in plans).most_common(1)[0]
    if count > 1:
        raise CannotRunError(f"{place}: {count} of the wheels would be written to this path; name each wheel once")


@dataclass(frozen=True)
class Size:
    """Bytes of a wheel: the file, and the files in it."""

    download: int
    installed: int

    def text(self, before: "Size | None" = None) -> str:
        """Return both for people, with parts of what they were before."""
        download, installed = (
            size_text(now) + (f" ({_part(now, then)})" if before else "")
            for now, then in ((self.download, (before or self).download), (self.installed, (before or self).installed))
        )
        return f"{download}, installed {installed}"


def _part(now: int, then: int) -> str:
    return f"{100 * now / then:.0f}%" if then else "0%"


def _size_of(path: Path) -> Size:
    with zipfile.ZipFile(path) as archive:
        return Size(path.stat().st_size, sum(member.file_size for member in archive.infolist()))


def describe(fat: SoundWheel, plans: Sequence[ThinWheel], folder: Path) -> Iterator[str]:
    """Yield lines: the fat wheel, and each thin one in `folder` with what it lacks."""
    before = Size(fat.wheel.size, sum(file.size for file in fat.wheel.files.values()))
    yield f"{fat.path.name}: {before.text()}"
    yield from fat.record_lines()
    for plan in plans:
        yield f"  {plan.place}: {_size_of(folder / plan.place).text(before)}"
        if plan.left_out:
            yield f"    without {named(plan.left_out)}: for other GPUs"
        for target in sorted({target for file in plan.files for target in file.absent}):
            lacking = [file.path for file in plan.files if target in file.absent]
            yield f"    no code for {target} in {named(lacking)}"


def split(arguments: Arguments) -> list[str]:
    """Split all wheels; returns lines for people. Raises ToolError, and then nothing was written."""
    groups = parse_groups(arguments.targets)
    planned: list[tuple[SoundWheel, list[ThinWheel]]] = []
    for path in arguments.wheels:
        fat = read_sound_wheel(path, rewrite_record=arguments.rewrite_record)
        planned.append((fat, SHAPES[arguments.shape](fat, groups, arguments.whole)))
    all_plans = [plan for _, plans in planned for plan in plans]
    places = [plan.place for plan in all_plans]
    check_places(all_plans)
    check_free(arguments.output, places)
    lines: list[str] = []
    with scratch_directory(arguments.output) as scratch:
        for fat, plans in planned:
            write_thin_wheels(fat, plans, scratch, arguments.compression)
            lines += describe(fat, plans, scratch)
        if arguments.shape == WHEEL_VARIANTS:
            fats = [fat for fat, _ in planned]
            more, said = write_flat_index(fats, groups, scratch, arguments.output)
            places, lines = [*places, *more], [*lines, *said]
        publish(scratch, arguments.output, places)
    return lines


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    arguments = Arguments(**vars(parser().parse_args(argv)))

    def work() -> None:
        print(printable("\n".join(split(arguments))))

    return run_command("rocm-wheels split", work, interrupted="what is there is whole", otherwise=FOUND)
