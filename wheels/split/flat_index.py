"""Makes a flat index of a directory with wheel variants: the wheel without label, the list of variants, and a page.

An installer that knows nothing of variants sees the wheel without label alone: the fat wheel, copied as it is.
"""

import hashlib
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Final
from urllib.parse import quote

from lib.common.command import CannotRunError
from lib.common.program import size_text
from lib.variants.variant_format import DRAFT, INDEX_SUFFIX, index_json, index_name, variant_label
from wheels.common.sound_wheel import SoundWheel
from wheels.split.groups import Group
from wheels.split.plan import ThinWheel

#: The page with a link to each file, for `--find-links` over HTTP: a bucket lists nothing by itself.
PAGE: Final = "find-links.html"
#: Ends of the names of files that the page lists.
_LISTED: Final = (".whl", ".tar.gz", INDEX_SUFFIX)


def write_flat_index(
    fats: Sequence[SoundWheel], groups: Sequence[Group], plans: Iterable[ThinWheel], scratch: Path, output: Path
) -> tuple[list[str], list[str]]:
    """Write what else belongs into `output` into `scratch`, where the thin wheels are.

    Returns the places below both, those that name others last, and lines for people. Raises ToolError for lists of
    variants in `output` that do not agree with these wheels, and if a fat wheel was changed.
    """
    places = [place for fat in fats for place in _copy(fat, scratch, output)]
    lines = [f"for other machines and installers: {fat.path.name} ({size_text(fat.wheel.size)})" for fat in fats]
    wrong = [fat.path.name for fat in fats if fat.record_faults]
    lines += [f"  {name} is copied unchanged, and keeps the RECORD that is wrong" for name in wrong]
    variants = {variant_label(group.label): [target.processor for target in group.targets] for group in groups}
    for name in sorted({index_name(fat.name.distribution, fat.name.version) for fat in fats}):
        path = output / name
        existing = path.read_bytes() if path.is_file() else None
        (scratch / name).write_bytes(index_json(variants, existing, str(path)))
        places.append(name)
        lines.append(f"{name}: {', '.join(variants)} ({DRAFT})")
    new = {place: scratch / place for place in (*places, *(plan.place for plan in plans))}
    (scratch / PAGE).write_text("".join(_page({**_there(output), **new})), encoding="utf-8")
    return [*places, PAGE], lines


def _there(output: Path) -> dict[str, Path]:
    """Return what the page lists of a directory. Names of wheels are ASCII; no installer looks at others."""
    files = (path for path in output.iterdir() if path.is_file() and path.name.isascii())
    return {path.name: path for path in files if path.name.endswith(_LISTED)}


def _copy(fat: SoundWheel, scratch: Path, output: Path) -> Iterator[str]:
    """Copy the fat wheel, unless it is in `output` itself; yields its place."""
    place = output / fat.path.name
    if not (place.exists() and place.samefile(fat.path)):
        shutil.copyfile(fat.path, scratch / place.name)
        with (scratch / place.name).open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != fat.sha256:
                raise CannotRunError(f"{fat.path}: was changed while it was read; nothing was written. Try again")
        yield place.name


def _page(files: Mapping[str, Path]) -> Iterator[str]:
    yield "<!DOCTYPE html>\n<html lang=en>\n<meta charset=utf-8>\n<title>Wheels</title>\n"
    for name in sorted(files):
        with files[name].open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        yield f'<a href="{quote(name)}#sha256={sha256}">{escape(name)}</a><br>\n'
    yield "</html>\n"
