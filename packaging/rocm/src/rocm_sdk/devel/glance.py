"""The root of the development tree at a glance, for console scripts: builds start compilers thousands of times.

`devel_root` looks at all that is installed. That takes a millisecond, and loading what it needs takes forty. Nothing is
loaded here. What the marks of the state tell is told as `devel_root` would; all else is left to that.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

#: Of the state, and of the content.
FORMAT = 4
STATE_NAME = ".rocm-sdk-state.json"
LOCK_NAME = "_devel.lock"
ARCHIVE_NAMES = ("_devel.tar", "_devel.tar.xz")
# Names a directory for development trees that is used instead of site-packages.
ROOT_VARIABLE = "ROCM_SDK_DEVEL_ROOT"
#: As in `rocm_sdk.targets`, which cannot be loaded here.
TARGET_VARIABLE = "ROCM_SDK_TARGET_FAMILY"

_PACKAGE = os.path.dirname(os.path.dirname(__file__))


def glance_at_root() -> str | None:
    """Return the root of a tree that is whole and up to date, "" without the devel package, None if this cannot tell.

    `devel_root` can.
    """
    try:
        known = _read_json(f"{_PACKAGE}/_distributions.json")
        names = known["packages"]["devel"]
        glue = _find_package(names["import"])
        if glue is None:
            return ""
        site = os.path.dirname(glue)
        # A tree elsewhere may be another user's.
        if site != os.path.dirname(_PACKAGE) or os.environ.get(ROOT_VARIABLE):
            return None
        root = os.path.join(site, names["tree"])
        check = _is_current if os.path.isfile(f"{glue}/{LOCK_NAME}") else _is_plain
        return root if check(site, glue, root, known) else None
    except (AttributeError, KeyError, OSError, SyntaxError, TypeError, ValueError):
        return None


def _read_json(path: str) -> Any:
    """Return the contents of a JSON file that this package or its build wrote.

    Such JSON is Python, except for three names. Importing `json` takes half as long as starting the interpreter.
    """
    with open(path, encoding="utf-8") as stream:
        return eval(stream.read(), {"__builtins__": {}, "true": True, "false": False, "null": None})


def _find_package(name: str) -> str | None:
    """Return the directory of a package with an `__init__.py`, as `importlib.util.find_spec` finds it."""
    for finder in sys.meta_path:
        spec = finder.find_spec(name, None)
        if spec is not None:
            return os.path.dirname(spec.origin) if spec.origin else None
    return None


def _is_current(site: str, glue: str, root: str, _: Mapping[str, Any]) -> bool:
    """Return whether nothing has come, gone or changed since the state of the tree was written."""
    state = _read_json(f"{root}/{STATE_NAME}")
    basis = state["basis"]
    archive = _mark_archive(glue)
    if state["format"] != FORMAT or state["changing"] or (archive and archive != state["archive"]):
        return False
    if basis["target"] != os.environ.get(TARGET_VARIABLE, ""):
        return False
    marks = {f"{dist_info}/RECORD": mark for dist_info, mark in state["packages"].items()}
    marks.update(basis["marks"])
    installed = _list_dist_infos(site, basis["distributions"])
    return all(f"{one}/METADATA" in marks for one in installed) and all(
        _mark(f"{site}/{path}") == mark for path, mark in marks.items()
    )


def _is_plain(site: str, glue: str, _: str, known: Mapping[str, Any]) -> bool:
    """Return whether the wheel has the tree as ordinary files, beside core of the same version."""
    core = known["packages"]["core"]
    names = [core["distribution"], known["packages"]["devel"]["distribution"]]
    wanted = [f"{name.replace('-', '_')}-{known['version']}.dist-info" for name in names]
    is_alone = sorted(_list_dist_infos(site, names)) == sorted(wanted)
    return (
        not _mark_archive(glue)
        and not os.environ.get(TARGET_VARIABLE)
        and is_alone
        and all(_mark(f"{site}/{one}/METADATA") for one in wanted)
        and os.path.isdir(os.path.join(site, core["tree"]))
    )


def _list_dist_infos(site: str, distributions: list[str]) -> list[str]:
    """Return the names of the metadata directories of distributions, whose names are as PEP 503 compares them."""
    found = []
    for entry in os.listdir(site):
        name, _, rest = entry.partition("-")
        if (
            rest.endswith(".dist-info")
            and "-".join(filter(None, name.lower().replace(".", "_").split("_"))) in distributions
        ):
            found.append(entry)
    return found


def _mark_archive(glue: str) -> list[int]:
    return next(filter(None, (_mark(f"{glue}/{name}") for name in ARCHIVE_NAMES)), [])


def _mark(path: str) -> list[int]:
    """Return [size in bytes, mtime in ns] of a file, [] if it is not there."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return []
    return [status.st_size, status.st_mtime_ns]
