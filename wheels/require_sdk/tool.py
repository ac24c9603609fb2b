"""Makes a wheel use an SDK's packages: its libraries and metadata lead to them.

The wheel that you give is never changed. A new one is written only if the SDK
has every library, symbol and symbol version that the wheel needs from it.
"""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from lib.common.command import FOUND, CannotRunError, CommandParser, exit_codes, run_command
from lib.common.program import ToolError, named, printable, size_text
from lib.elf.dynamic_edit import DynamicEdit
from lib.elf.editor import plan_patch
from lib.elf.patched import write_patched
from lib.elf.reader import read_elf
from lib.elf.source import ElfError
from lib.wheel.wheel_writer import WheelMember, Written
from wheels.common import copying
from wheels.common.output_directory import publish, scratch_directory
from wheels.common.sound_wheel import read_sound_wheel
from wheels.require_sdk.device import InitPy
from wheels.require_sdk.libraries import COLLECTOR
from wheels.require_sdk.needs import Copy
from wheels.require_sdk.own_gpus import own_gpus, parse_gpus
from wheels.require_sdk.plan import FileEdit, RequiringWheel, Wishes, plan_wheel
from wheels.require_sdk.proof import Proof, prove
from wheels.require_sdk.sdk import Sdk

EPILOG = """what changes:
  file name     acme-1.0-cp312-cp312-linux_x86_64.whl becomes
                DIR/acme-1.0+sdk.7.10.0.0-cp312-cp312-linux_x86_64.whl
  RPATH         Each file that needs a library of the SDK gets a path to it:
                $ORIGIN/../_sdk/lib
  Requires-Dist The wheel requires the packages that have these libraries, in
                exactly the version that you gave. If device code is in separate
                packages, it also requires the extra that brings it:
                sdk[device-gfx942]
  Requires-External
                names the libraries that --externals allows to come from
                elsewhere, if the wheel needs them
  copies        Copies of the SDK's libraries are reported; --drop-bundled
                leaves them out.
  other files   are copied, byte by byte

examples:
  rocm-wheels require-sdk acme-1.0-*.whl --sdk sdk/ --output out
  rocm-wheels require-sdk acme-*.whl --output out \\
      --sdk sdk_core-7.10.0-*.whl --sdk sdk_blas-7.10.0-*.whl
  rocm-wheels require-sdk acme-*.whl --sdk sdk/ --output out --device gfx942
  rocm-wheels require-sdk acme-*.whl --sdk sdk/ --output out \\
      --specifier '>=7.10,<7.11'
  rocm-wheels require-sdk acme-*.whl --sdk sdk/ --output out \\
      --externals 'libtorch*' --externals 'libc10*'
  rocm-wheels require-sdk acme-*.whl --sdk sdk/ --output out \\
      --drop-bundled --leave 'libz.so*' --init-py acme

Files in the wheel are dated 1980, or by SOURCE_DATE_EPOCH: equal wheels give
equal bytes.

""" + exit_codes("the new wheel was written", "a wheel is damaged, or does not fit the SDK: nothing was written")


@dataclass(frozen=True)
class Arguments:
    """The command line; `--help` says what each argument is."""

    wheel: Path
    sdk: list[Path]
    output: Path
    specifier: str
    drop_bundled: bool
    leave: list[str]
    take: list[str]
    externals: list[str]
    allow_missing: list[str]
    device: str
    local_version: str
    init_py: str
    rewrite_record: bool
    compression: str


def parser() -> CommandParser:
    """Make the command line parser."""
    result = CommandParser("rocm-wheels require-sdk", description=__doc__, epilog=EPILOG)
    add = result.add_argument
    add("wheel", type=Path, metavar="WHEEL", help="a wheel whose libraries need an SDK")
    add(
        "--sdk",
        action="append",
        required=True,
        type=Path,
        metavar="PATH",
        help="wheel of the SDK, or a directory of wheels; may be repeated",
    )
    add("--output", required=True, type=Path, metavar="DIR", help="where to write the new wheel")
    add(
        "--specifier",
        default="",
        metavar="SPEC",
        help="versions of the SDK to require (default: == the version of each package)",
    )
    add("--drop-bundled", action="store_true", help="leave out copies of the SDK's libraries, and use the SDK's")
    result.add_repeated(
        "--leave",
        "PATTERN",
        "file names of libraries to leave alone: not taken from the SDK, copies not left out; may be repeated",
    )
    result.add_repeated(
        "--take",
        "PATTERN",
        "file names of libraries to take also from deeper directories of the SDK, such as lib/llvm/lib",
    )
    result.add_repeated(
        "--externals",
        "PATTERN",
        "file names of libraries that users' machines or other packages have; may be repeated. METADATA lists "
        "those that the wheel needs (Requires-External)",
    )
    result.add_repeated("--allow-missing", "PATTERN", "symbols that the SDK need not have; may be repeated")
    add(
        "--device",
        default="",
        metavar="GPUS",
        help="GPU targets whose packages the wheel requires; or machine (the GPU of the machine that installs the "
        "wheel), all, or none (default: the GPU of the wheel's own device code, if there is only one, otherwise "
        "machine)",
    )
    add(
        "--local-version",
        default="",
        metavar="TEXT",
        help="local version of the new wheel, such as sdk.7.10 (default: sdk and the SDK's version, in sortable parts)",
    )
    add("--init-py", default="", metavar="PACKAGE", help="import package that gets a module to load the libraries")
    copying.add_wheel_arguments(result)
    return result


def _wishes(arguments: Arguments, init_py: InitPy) -> Wishes:
    """Return the parsed options. Raises ToolError for invalid ones."""
    try:
        SpecifierSet(arguments.specifier).contains("0")
    except ValueError:  # InvalidSpecifier, or too many digits for Python.
        raise CannotRunError(
            f"--specifier={arguments.specifier}: expected a version specifier, such as `>=7.10,<7.11` or `~=7.10.0`"
        ) from None
    local = arguments.local_version
    try:
        Version(f"1+{local or 'x'}")
    except ValueError:
        raise CannotRunError(
            f"--local-version={local}: expected letters and digits, with dots between: sdk.7.10"
        ) from None
    return Wishes(
        arguments.specifier,
        arguments.drop_bundled,
        tuple(arguments.leave),
        tuple(arguments.externals),
        local,
        arguments.init_py,
        init_py,
    )


def write(plan: RequiringWheel, path: Path, scratch: Path, level: str) -> tuple[Written, Mapping[str, tuple[str, ...]]]:
    """Write the planned wheel; return also, by file, what its edit gave up.

    Edited files are packed anew, and lie in `scratch` before; all else is copied as it was deflated. Raises ToolError
    for a file that cannot be edited, and if the old wheel was changed.
    """
    old, edits = plan.wheel, {edit.source: edit for edit in plan.edits}
    gone = {copy.path for copy in plan.left_out} | {f"{old.name.dist_info}/{name}" for name in copying.MADE}
    kept = [source for source in old.wheel.files if not {source, old.wheel.installed(source)} & gone]
    members: list[WheelMember] = []
    notes: dict[str, tuple[str, ...]] = {}
    for number, source in enumerate(kept):
        place, edit, file = plan.name.path_from(source, old.name), edits.get(source), scratch / f"{number}.source"
        if edit is None and copying.can_be_copied(old, source):
            members.append(copying.copied_member(old, source, place))
            continue
        copying.inflate(old, source, file)
        if edit is not None and (given_up := _edit(plan, file, edit)):
            notes[edit.path] = given_up
        members.append(copying.packed_member(old, source, place, file, level))
    return copying.write_new_wheel(path, old, plan.name, members, plan.metadata, sorted(plan.texts.items())), notes


def _edit(plan: RequiringWheel, file: Path, edit: FileEdit) -> tuple[str, ...]:
    """Edit a file in place; return what that gave up."""
    wanted = DynamicEdit(edit.search_path, edit.needs.renamed)
    try:
        with file.open("rb") as source:
            patch = plan_patch(read_elf(source, edit.source), source, wanted)
            write_patched(patch, source, str(file))
    except (ElfError, ValueError) as error:
        reason = f"{plan.wheel.path}: {error}. Its search path cannot be set"
        raise ToolError(f"{reason}: link the file differently, and build the wheel again") from None
    return patch.notes


def describe(plan: RequiringWheel, proof: Proof, written: Written, notes: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield lines: both wheels, what the new one requires, each edit and copy, and what was not proven."""
    yield f"{plan.wheel.path.name}: {size_text(plan.wheel.wheel.size)}"
    yield f"  {plan.name.filename}: {size_text(written.size)}"
    yield from plan.wheel.record_lines()
    yield f"    requires {', '.join(map(str, plan.requirements)) or 'nothing more'}"
    yield from (f"    device code: {line}" for line in plan.device)
    yield f"    files that need the SDK: {len(plan.edits)}; symbols that it supplies: {proof.symbols}"
    for edit in plan.edits:
        yield f"    {edit.path}: needs {', '.join(library.name for library in edit.needs.libraries.values())}"
        yield from (f"      {old} is now {new}" for old, new in edit.needs.renamed.items())
        if edit.dropped:
            yield f"      without search path entries that depend on the machine: {', '.join(map(repr, edit.dropped))}"
        yield from (f"      {note}" for note in notes.get(edit.path, ()))
        if edit.path in proof.unproven:
            names = named(proof.unproven[edit.path], most=5)
            yield f"      not proven, because a library that was not looked at may have them: {names}"
    for copy in plan.copies:
        outcome = f"stays: {copy.stays}" if copy.stays else "left out"
        yield f"    bundled {copy.path} ({size_text(copy.size)}), {_origin(copy)}: {outcome}"
    if plan.externals:
        yield f"    left to users' machines and other packages: {', '.join(plan.externals)}"
    if plan.elsewhere:
        yield f"    not edited, because it is installed outside of site-packages: {', '.join(plan.elsewhere)}"
    yield from _opened(plan)
    yield from (f"    {path}: call its initialize() before the first extension is imported" for path in plan.texts)


def _opened(plan: RequiringWheel) -> Iterator[str]:
    """Yield what is left to whoever runs the wheel: the loader looks for a name that is opened on the machine."""
    for path, names in plan.opened.items():
        yield f"    {path} may open {named(names, most=5)} by name: not proven, as the machine may have another copy"
    if plan.opened:
        remedy = "open it by its path in the SDK's package" + ("" if plan.texts else ", or see --init-py")
        yield f"      if it does, {remedy}: otherwise a process may have two of these libraries"


def _origin(copy: Copy) -> str:
    if copy.library is not None:
        return f"a copy of {copy.library.path} of {copy.library.wheel}"
    return f"a kind of {copy.other}" if copy.other else "which only copies need that are left out"


def require(arguments: Arguments, init_py: InitPy) -> list[str]:
    """Make the wheel; returns lines for people. Raises ToolError, and then nothing was written."""
    wishes, told = _wishes(arguments, init_py), parse_gpus(arguments.device)
    wheel = read_sound_wheel(arguments.wheel, rewrite_record=arguments.rewrite_record, collectors=(COLLECTOR,))
    plan = plan_wheel(wheel, Sdk(arguments.sdk, arguments.take, told or own_gpus(wheel)), wishes)
    proof = prove(plan, arguments.allow_missing)
    with scratch_directory(arguments.output) as scratch, tempfile.TemporaryDirectory(dir=scratch) as segments:
        written, notes = write(plan, scratch / plan.name.filename, Path(segments), arguments.compression)
        publish(scratch, arguments.output, [plan.name.filename])
    return list(describe(plan, proof, written, notes))


def main(argv: Sequence[str] | None, init_py: InitPy) -> int:
    """Run the command line; returns the exit code."""
    arguments = Arguments(**vars(parser().parse_args(argv)))

    def work() -> None:
        print(printable("\n".join(require(arguments, init_py))))

    return run_command("rocm-wheels require-sdk", work, otherwise=FOUND)
