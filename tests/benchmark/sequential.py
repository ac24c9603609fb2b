"""What the benchmark compares with: packages made by patchelf and `wheel pack`, one step after the other.

It does in principle what is usual. Each package's files are copied to a staging folder, patchelf sets the RPATH of
each ELF file, and `python -m wheel pack` makes the wheel; a devel package's tree goes into a tar archive first. Which
files, and which RPATH, the plans say, so that both flows make the same of the same. It is kind to what it stands for:
one patchelf call per file, no scan of the artifacts, no search for what to patch.
"""

import os
import shutil
import subprocess
import sys
import tarfile
from dataclasses import replace
from pathlib import Path

from lib.plan.model import PACKED, Entry, Kind, Plan, Treatment
from tests.benchmark.cost import Cost, Meter

WHEEL = "Wheel-Version: 1.0\nGenerator: sequential\nRoot-Is-Purelib: false\nTag: {tag}\n"
#: Treatments that copy the bytes of a file. For others (launchers), the build makes a few KB: anything will do here.
COPIED = (Treatment.KEEP, Treatment.PATCH, Treatment.COPY_OF_LINK)


def stage_entry(entry: Entry, artifacts: Path, target: Path) -> None:
    """Copy one entry of a package to its place."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if entry.treatment is Treatment.LINK_TO:
        target.symlink_to(entry.target or "")
    elif entry.kind is Kind.DIRECTORY:
        target.mkdir(exist_ok=True)
    elif entry.treatment in COPIED:
        shutil.copyfile(artifacts / entry.source, target)
    else:
        target.write_bytes(bytes(4096))
    if entry.is_packed_file:
        target.chmod(int(entry.mode, 8) | 0o600)


def stage(plan: Plan, artifacts: Path, folder: Path) -> None:
    """Copy a package's files and set the RPATH of those that get one."""
    tree = folder / plan.tree
    tree.mkdir(parents=True)
    for entry in plan.entries:
        if entry.treatment in (*PACKED, Treatment.LINK_TO):
            stage_entry(entry, artifacts, tree / entry.path)
    for entry in plan.entries:
        if entry.rpath is not None:
            command = ["patchelf", "--force-rpath", "--set-rpath", ":".join(entry.rpath), str(tree / entry.path)]
            subprocess.run(command, check=True)


def archive_tree(plan: Plan, folder: Path) -> None:
    """Put a devel package's tree into an archive, instead of the tree."""
    package = folder / plan.tree.removeprefix("_")
    package.mkdir()
    with tarfile.open(package / "_devel.tar", "w") as archive:
        archive.add(folder / plan.tree, plan.tree)
    shutil.rmtree(folder / plan.tree)


def pack(wheel: Path, folder: Path, output: Path) -> None:
    """Make a wheel of a staged folder, with the metadata of the wheel that the build made."""
    name, version, tag = wheel.stem.split("-", 2)
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir()
    shutil.copyfile(f"{wheel}.metadata", info / "METADATA")
    (info / "WHEEL").write_text(WHEEL.format(tag=tag), encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-m", "wheel", "pack", "--dest-dir", str(output), str(folder)]
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)


def make_packages(plans: dict[Path, Plan], artifacts: Path, scratch: Path) -> Cost:
    """Make the wheels of all plans, by the wheel that the build made of each; return what that cost."""
    output = scratch / "dist"
    output.mkdir(parents=True)
    with Meter(os.getpid()) as meter:
        for wheel, plan in sorted(plans.items()):
            folder = scratch / plan.package
            stage(plan, artifacts, folder)
            if plan.package == "devel":
                archive_tree(plan, folder)
            pack(wheel, folder, output)
            shutil.rmtree(folder)
    return replace(meter.cost, produced=sum(one.stat().st_size for one in output.iterdir()))
