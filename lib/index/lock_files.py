"""Lock files (PEP 751) of what an index offers, one for each GPU.

A lock has the newest build for a GPU, and the newest version of every other project that goes with it, such as a
framework: whatever these require is in the lock, too. A project that requires what the index lacks is left out.
"""

from collections.abc import Collection, Mapping, Sequence
from urllib.parse import urljoin

from lib.index.model import Distribution, Need, need
from lib.index.requirements import Shelf
from lib.index.selector import TargetPackage
from lib.wheel.machines import DEFAULT_PLATFORM, PYTHONS, Machine, accepts, fits, holds


def lock_file(files: Sequence[Distribution], newest: Collection[str], target: TargetPackage, url: str = "") -> str:
    """Return the lock of files for a GPU; `newest` names the files of the newest build.

    `url` is where the index is served, with `/` at its end. Without it, the lock has paths.
    """
    shelf = Shelf(files)
    machine = Machine(PYTHONS[-1], *DEFAULT_PLATFORM)
    fronts = [one for one in files if one.filename in newest and one.is_wheel and target.extra in one.extras]
    fronts = sorted((one for one in fronts if not one.yanked), key=lambda one: one.version, reverse=True)
    chosen: dict[str, Distribution] = {}
    for front in fronts[:1]:
        wanted = need(f"{front.project}[{target.extra}]=={front.version}")
        chosen = _with(wanted, shelf, machine, {front.project: front}) or {}
    others = shelf.projects - {one.project for one in files if one.filename in newest}
    for project in sorted(others) if chosen else ():
        for file in sorted(shelf.serving(need(project)), key=lambda one: one.version, reverse=True):
            found = _with(need(f"{project}=={file.version}"), shelf, machine, chosen)
            if found is not None:
                chosen = found
                break
    return _toml(files, chosen, url)


def _with(
    wanted: Need, shelf: Shelf, machine: Machine, chosen: Mapping[str, Distribution]
) -> dict[str, Distribution] | None:
    """Return what is chosen together with what a requirement brings, None if that does not go together."""
    found, waiting, seen = dict(chosen), [wanted], set[str]()
    while waiting:
        one = waiting.pop()
        if str(one.requirement) in seen:
            continue
        seen.add(str(one.requirement))
        if one.project not in found:
            there = [file for file in shelf.serving(one) if fits(file.filename, file.requires_python, machine)]
            if not there:
                return None
            found[one.project] = max(there, key=lambda file: (file.version, file.is_wheel))
        file = found[one.project]
        if not accepts(one.requirement, file.version):
            return None
        waiting += [it for it in file.needs if any(holds(it.marker, extra, machine) for extra in ("", *one.extras))]
    return found


def _toml(files: Sequence[Distribution], chosen: Mapping[str, Distribution], base: str) -> str:
    lines = ['lock-version = "1.0"', 'created-by = "rocm-wheels"']
    for project, file in sorted(chosen.items()):
        lines += ["", "[[packages]]", f'name = "{project}"', f'version = "{file.version}"']
        same = [one for one in files if one.project == project and one.version == file.version]
        wheels = [one for one in same if one.is_wheel and not one.label]
        for one in wheels or same:
            where = urljoin(base, one.stored)
            lines += ["[[packages.wheels]]" if one.is_wheel else "[packages.sdist]", f'name = "{one.filename}"']
            lines += [f'{"url" if "://" in where else "path"} = "{where}"']
            lines += [f"size = {one.size}", f'hashes = {{sha256 = "{one.sha256}"}}']
    return "\n".join(lines) + "\n"
