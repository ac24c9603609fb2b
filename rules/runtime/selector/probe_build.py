"""The build backend (PEP 517) in the sdist of an SDK's selector: it asks the SDK's probe which GPUs the machine has.

Beside it are `selector.json`, which says what packages there are, and `probe.py`, whose function `gpus()` returns the
names of the machine's GPUs, the preferred first. The extra `device` requires the package for the first that has one.
`selected.json` in the wheel's .dist-info directory says which one, and why.
"""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from selector_backend import Backend, Choice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

HERE = Path(__file__).parent


@lru_cache(maxsize=None)
def selector() -> Mapping[str, Any]:
    """Return what the build wrote about the packages."""
    document: dict[str, Any] = json.loads((HERE / "selector.json").read_text("utf-8"))
    return document


def probed() -> tuple[list[str], str]:
    """Return the names of the machine's GPUs, as the SDK's probe says, and why there are none.

    Ends the program for a probe that returns something else. A failed probe finds no GPU: the machine may have a
    driver that the probe does not know.
    """
    try:
        gpus = importlib.import_module("probe").gpus()
    except Exception as error:
        return [], f"the probe failed: {type(error).__name__}: {error}"
    if not isinstance(gpus, (list, tuple)) or not all(isinstance(gpu, str) for gpu in gpus):
        raise SystemExit(f"{selector()['name']}: probe.gpus() returned {gpus!r}; expected a list of names of GPUs")
    return list(gpus), "no GPU was found"


def choose(known: Mapping[str, Any], environ: Mapping[str, str]) -> dict[str, object]:
    """Return the record of the choice: target, source, reason, gpus. Ends the program if there is none to make."""
    served, variable = known["gpus"], known["variable"]
    by_name = {**{target: target for target in known["devices"]}, **served}
    available = ", ".join(sorted(by_name))
    wanted = environ.get(variable, "").strip() if variable else ""
    if wanted and wanted not in by_name:
        raise SystemExit(
            f"{variable}={wanted}: there is no package for this GPU. Available: {available}. Set {variable} to one of "
            "these, or unset it to let the machine's GPU decide"
        )
    if wanted:
        return _chosen(by_name[wanted], "environment", f"{variable} is {wanted}")
    gpus, why = probed()
    for gpu in gpus:
        if gpu in served:
            return _chosen(served[gpu], "probe", f"this machine has the GPU {gpu}", gpus)
    if gpus:
        why = f"no package serves the GPUs of this machine ({', '.join(gpus)})"
    if not known["default"]:
        elsewhere = (
            f"Install it on a machine with one of {available}, or install the package for one of them by its name"
        )
        remedy = f"Set {variable} to the GPU to install for: {available}" if variable else elsewhere
        raise SystemExit(f"{known['name']}: {why}. {remedy}")
    return _chosen(known["default"], "default", why, gpus)


def _chosen(target: str, source: str, reason: str, gpus: list[str] | None = None) -> dict[str, object]:
    return {"target": target, "source": source, "reason": reason, "gpus": gpus or []}


def _choice() -> Choice:
    known = selector()
    chosen = choose(known, os.environ)
    extras = {**known["requirements"], "device": known["devices"][chosen["target"]]}
    return Choice(
        {extra: extras[extra] for extra in sorted(extras)},
        f"{known['name']}: package for {chosen['target']}: {chosen['reason']}",
        info_files={"selected.json": (json.dumps(chosen, indent=2) + "\n").encode()},
    )


_BACKEND = Backend(
    HERE.parent,
    selector()["name"],
    lambda: str(selector()["version"]),
    _choice,
    "selector_backend",
    selector()["entry_points"],
)

build_sdist = _BACKEND.build_sdist
build_wheel = _BACKEND.build_wheel
get_requires_for_build_sdist = _BACKEND.get_requires_for_build_sdist
get_requires_for_build_wheel = _BACKEND.get_requires_for_build_wheel
prepare_metadata_for_build_wheel = _BACKEND.prepare_metadata_for_build_wheel
