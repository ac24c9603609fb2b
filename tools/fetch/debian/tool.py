"""Debian's packages as artifacts: the program of the repository rule `debian`, run when that is fetched.

The step `resolve` asks apt what there is and writes `resolved.json`; `download` fetches these packages into `debs/`; of
them, `lay-out` makes `artifacts/`, as a ROCm build leaves them, and `packages.json`: which versions of which packages
each artifact is made from. Packages are ROCm's, or with `--plain` any SDK's. The program stands on the
standard library, because it runs before anything is fetched.
"""

import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from lib.common.arguments import run_program
from lib.common.program import ToolError, read_document, write_document
from tools.fetch.debian.apt import Apt, DebianPackage
from tools.fetch.debian.table import (
    SELECTIONS,
    SYSTEM,
    LayoutRule,
    PackageSelection,
    is_of_system,
    plain_rule_of,
    rule_of,
)
from tools.fetch.debian.unpack import PLAIN_REMEDY, ROCM_REMEDY, Unpacking

#: The artifact, and in it the base directory, of what a build says about itself.
ABOUT = ("base_lib_generic", "base/aux-overlay/stage")
#: Returns what becomes of a package; None if it stays with the system.
Rules = Callable[[str], LayoutRule | None]
_REMEDY = "choose others, declare `artifacts.debian` for another SDK, or add a rule to tools/fetch/debian/table.py"


def resolve(directory: Path, suite: str, selection: PackageSelection, rules: Rules, system: Sequence[str]) -> None:
    """Write `resolved.json`: the packages to fetch, and those that stay with the system."""
    if left := [name for name in selection.required if is_of_system(name, system)]:
        raise ToolError(f"`system` leaves out {', '.join(left)}; remove it from `packages`, or from `system`")
    if unknown := [name for name in selection.required if not rules(name)]:
        raise ToolError(f"no rule of ROCm's packages for {', '.join(unknown)}; {_REMEDY}")
    apt = Apt.create(directory / "apt", suite)
    apt.update()
    absent = apt.absent(list(selection.optional))
    names = sorted({*selection.required, *selection.optional} - set(absent))
    chosen = apt.resolve(names)
    check_dependencies(apt.dependencies(chosen), rules, system)
    if absent:
        print(f"{apt.choice.name} has no {', '.join(absent)}")
    document = {
        "distribution": apt.choice.distribution,
        "suite": apt.choice.suite,
        "absent": absent,
        "packages": [asdict(one) for one in chosen if rules(one.name)],
        "system": [asdict(one) for one in chosen if not rules(one.name)],
    }
    write_document(str(directory / "resolved.json"), document)


def check_dependencies(dependencies: Mapping[str, Sequence[str]], rules: Rules, system: Sequence[str]) -> None:
    """Raise ToolError if a package to fetch needs a package that is neither fetched nor the system's."""
    unknown = [
        f"{name} needs {needed}"
        for name, names in sorted(dependencies.items())
        for needed in names
        if rules(name) and not rules(needed) and not is_of_system(needed, (*SYSTEM, *system))
    ]
    if unknown:
        raise ToolError(
            f"no rule of ROCm's packages says what becomes of a dependency: {', '.join(unknown)}; expected that it is "
            "fetched, or the system's. Name it in `system` if all machines that run programs have it, or add a rule "
            "to tools/fetch/debian/table.py"
        )


def download(directory: Path) -> None:
    """Fetch the packages of `resolved.json` into `debs/`, each as `{name}.deb`."""
    resolved = read_document(str(directory / "resolved.json"))
    apt = Apt.create(directory / "apt", resolved["suite"])
    packages = [DebianPackage(**one) for one in resolved["packages"]]
    for package, file in zip(packages, apt.download(packages, directory / "debs"), strict=True):
        file.rename(directory / "debs" / f"{package.name}.deb")
    shutil.rmtree(directory / "apt")


def lay_out(directory: Path, rules: Rules, *, plain: bool) -> None:
    """Make the artifacts, removing each package once it is unpacked."""
    resolved = read_document(str(directory / "resolved.json"))
    unpacking = Unpacking(directory / "artifacts", rules, PLAIN_REMEDY if plain else ROCM_REMEDY)
    for package in resolved["packages"]:
        file = directory / "debs" / f"{package['name']}.deb"
        unpacking.add(package["name"], file)
        file.unlink()
    unpacking.finish()
    for package in resolved["packages"]:
        package["artifacts"] = sorted(unpacking.artifacts.get(package["name"], ()))
    write_document(str(directory / "packages.json"), resolved)
    if not plain:
        write_about(unpacking, resolved)
    for artifact, bases in sorted(unpacking.bases.items()):
        manifest = directory / "artifacts" / artifact / "artifact_manifest.txt"
        manifest.write_text("".join(f"{base}\n" for base in sorted(bases)), encoding="utf-8")
    (directory / "debs").rmdir()


def write_about(unpacking: Unpacking, resolved: dict[str, Any]) -> None:
    """Add what a ROCm build says about itself: that device code is split off, and for which targets."""
    artifact, base = ABOUT
    unpacking.bases.setdefault(artifact, set()).add(base)
    about = unpacking.directory / artifact / base / "share/therock"
    about.mkdir(parents=True)
    targets = sorted({name.rpartition("_")[2] for name in unpacking.bases} - {"generic"})
    documents = {
        "therock_manifest.json": {"flags": {"KPACK_SPLIT_ARTIFACTS": True}},
        "dist_info.json": {"dist_amdgpu_targets": ";".join(targets)},
        "debian_packages.json": resolved,
    }
    for name, document in documents.items():
        write_document(str(about / name), document)
        (about / name).chmod(0o644)


def selection_of(name: str, packages: list[str]) -> PackageSelection:
    """Return the packages asked for, or the set of that name. Raises ToolError if there is none."""
    if packages:
        return PackageSelection(required=tuple(packages))
    if name not in SELECTIONS:
        raise ToolError(
            f"ROCM_DEBIAN_SET={name}: there is no such set; expected one of {', '.join(sorted(SELECTIONS))}"
        )
    return SELECTIONS[name]


@dataclass(frozen=True)
class Arguments:
    """Arguments from the rule."""

    step: Literal["resolve", "download", "lay-out"]
    directory: Path  #: Where all is kept.
    package: list[str]  #: Packages to begin with, instead of a set.
    plain: bool  #: Whether each package is an artifact of its own, whatever it is.
    system: list[str]  #: Patterns of packages that are not taken.
    suite: str = ""  #: Of Debian or Ubuntu; the usual one if empty.
    set: str = "all"  #: Name of a set of packages.
    label: str = "debian_rocm"  #: Name of the repository, for messages.


def take_step(args: Arguments) -> None:
    """Take one step. Raises ToolError if it cannot be done."""
    rules = partial(plain_rule_of if args.plain else rule_of, system=args.system)
    try:
        if args.step == "resolve":
            resolve(args.directory, args.suite, selection_of(args.set, args.package), rules, args.system)
        elif args.step == "download":
            download(args.directory)
        else:
            lay_out(args.directory, rules, plain=args.plain)
    except OSError as error:
        where = error.filename or args.directory
        raise ToolError(f"{where}: {error.strerror}; check its permissions and the space on its disk") from None


def main(argv: list[str]) -> int:
    """Take one step; return 1, with a message on standard error, if it cannot be done."""
    return run_program(Arguments, argv, take_step)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
