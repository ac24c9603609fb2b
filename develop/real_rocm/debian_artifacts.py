"""Lays unpacked packages of Debian out as a directory of artifacts, the way a ROCm build leaves it.

    lay_out(RELEASES[7], unpacked, directory / "split", family="")
    lay_out(RELEASES[7], unpacked, directory / "family", family="gfx-all")

`split` gives each GPU target artifacts for the files that are made for it; a family has one artifact for everything of
a library, whose own file has code for all targets. Files are hard links to the unpacked ones: an edit in place changes
all of them. Only those are copies that name Debian's directories, of CMake and of Python: they name the prefix's.
"""

import json
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from develop.real_rocm.releases import DUPLICATES, LIBRARIES, SYSTEM, UNWANTED, Release, rule_of
from tools.fetch.debian.table import LayoutRule
from tools.fetch.debian.unpack import edited, is_text_to_mend

#: Where Debian has a path -> where an install prefix has it. The first that matches counts.
_PREFIXES = (
    (r"(?:usr/)?lib/x86_64-linux-gnu/", "lib/"),
    (r"usr/lib/llvm-\d+/", "lib/llvm/"),
    (r"usr/(?=(?:lib|libexec|bin|include|share)/)", ""),
)
#: A file for one GPU target: `Kernels.so-000-gfx90a-xnack+.hsaco`. Features stay with their target.
_OF_ONE_TARGET = re.compile(r"[-_](gfx[0-9a-f]+)(?:-xnack[-+])?\.(?:co|dat|hsaco)$")
_MANIFEST = "artifact_manifest.txt"
_PROFILER = "#!/usr/bin/env python3\nprint('rocprof-compute')\n"


def place_of(path: str, rule: LayoutRule) -> str | None:
    """Return where the install prefix has a path of a package; None if it has not."""
    for old, new in _PREFIXES:
        if match := re.match(old, path):
            moved = new + path[match.end() :]
            break
    else:
        return None
    if rule is SYSTEM:
        moved = f"lib/rocm_sysdeps/{moved}"
    return None if moved.startswith(UNWANTED) else moved


def target_of(path: str, rule: LayoutRule, family: str) -> str:
    """Return the GPU target, or family of them, whose artifact has a file; an empty family splits by target."""
    if rule.artifact not in LIBRARIES:
        return "generic"
    if family:
        return family
    match = _OF_ONE_TARGET.search(path)
    return match[1] if match else "generic"


def link_text(text: str) -> str:
    """Return the text of a link: as Debian has it; only the compiler's directory loses its version."""
    text = re.sub(r"^(?:\.\./)+(?:usr/)?lib/llvm-\d+/", "../lib/llvm/", text)
    return re.sub(r"^\.\./llvm-\d+/", "llvm/", text)


def is_behind_link(base: Path, path: str) -> bool:
    """Tell whether a directory that a path leads through, below a base directory, is a link."""
    return any((base / parent).is_symlink() for parent in PurePosixPath(path).parents)


def entries(package: Path) -> Iterator[str]:
    """Yield the files and links of an unpacked package: a directory's own before its subdirectories'."""
    for folder, below, files in os.walk(package):
        below.sort()
        links = [name for name in below if Path(folder, name).is_symlink()]
        for name in sorted(files + links):
            yield str(PurePosixPath(Path(folder, name).relative_to(package)))


@dataclass
class Layout:
    """A directory of artifacts in the making."""

    directory: Path
    #: The family that all device code is for; empty if each target has artifacts of its own.
    family: str
    #: Artifact -> its base directories.
    bases: dict[str, set[str]] = field(default_factory=dict)

    def base(self, artifact: str, base: str) -> Path:
        """Return a base directory of an artifact, which from now on has it."""
        self.bases.setdefault(artifact, set()).add(base)
        return self.directory / artifact / base

    def add(self, package: Path, rule: LayoutRule) -> None:
        """Add an unpacked package. Of two entries with one path, the first stays; none goes through a link."""
        for path in entries(package):
            moved = place_of(path, rule)
            if moved is None or (package.name, moved) in DUPLICATES:
                continue
            artifact = f"{rule.artifact}_{rule.component}_{target_of(path, rule, self.family)}"
            base = self.base(artifact, rule.base)
            place, source = base / moved, package / path
            if os.path.lexists(place) or is_behind_link(base, moved):
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            if source.is_symlink():
                place.symlink_to(link_text(os.readlink(source)))  # noqa: PTH115 - Path would not keep the text
            elif is_text_to_mend(path):
                place.write_bytes(edited(path, source.read_bytes()))
                place.chmod(source.stat().st_mode)
            else:
                place.hardlink_to(source)

    def add_about(self, release: Release) -> None:
        """Add what Debian has no package of: what the build says of itself, and a program of the profiler."""
        about = self.base("base_lib_generic", "base/aux-overlay/stage") / "share/therock"
        about.mkdir(parents=True)
        flags = {"flags": {"KPACK_SPLIT_ARTIFACTS": not self.family}}
        (about / "therock_manifest.json").write_text(json.dumps(flags), encoding="utf-8")
        targets = {"dist_amdgpu_targets": ";".join(release.targets)}
        (about / "dist_info.json").write_text(json.dumps(targets), encoding="utf-8")
        profiler = self.base("rocprofiler-compute_run_generic", "profiler/stage")
        program = profiler / "libexec/rocprofiler-compute/rocprof-compute"
        program.parent.mkdir(parents=True)
        program.write_text(_PROFILER, encoding="utf-8")
        program.chmod(0o755)
        if release.number >= 7:  # Its hipcc looks for the compiler in the directory with the version's name.
            libraries = self.base("core-hip_run_generic", "core/clr/stage") / "lib"
            libraries.mkdir(parents=True, exist_ok=True)
            (libraries / f"llvm-{release.llvm}").symlink_to("llvm")

    def finish(self) -> None:
        """Write which base directories each artifact has."""
        for artifact, bases in self.bases.items():
            text = "".join(f"{base}\n" for base in sorted(bases))
            (self.directory / artifact / _MANIFEST).write_text(text, encoding="utf-8")


def lay_out(release: Release, packages: list[Path], directory: Path, family: str) -> None:
    """Lay unpacked packages out in a directory, which is made anew. An empty family splits by target."""
    shutil.rmtree(directory, ignore_errors=True)
    layout = Layout(directory, family)
    for package in sorted(packages):
        layout.add(package, rule_of(package.name, release))
    layout.add_about(release)
    layout.finish()
