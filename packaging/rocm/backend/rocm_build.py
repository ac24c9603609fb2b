"""The build backend (PEP 517) inside the `rocm` sdist: it chooses the GPU target of the machine it runs on.

`rocm` ships as an sdist so that this code runs where it is installed. `selector_backend` beside it makes a wheel whose
requirements name the packages of the chosen target.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src"
sys.path.insert(0, str(SOURCE))

from rocm_sdk.detect import Answer, ask_sources, prefer  # noqa: E402
from rocm_sdk.distributions import SELECTED_FILE, Distributions, load_all_distributions  # noqa: E402
from rocm_sdk.targets import Selection, select_target  # noqa: E402
from selector_backend import Backend, Choice  # noqa: E402

PACKAGE = "rocm_sdk"
ENTRY_POINTS = "[console_scripts]\nrocm-sdk = rocm_sdk.cli:main\n"


def known_distributions() -> Distributions:
    """Return the packages that the build made."""
    return load_all_distributions(SOURCE / PACKAGE)


def choose(known: Distributions) -> tuple[Selection, list[Answer]]:
    """Return the target for this machine, and what told of its GPUs; raises TargetError for an unknown wish."""
    answers, here = ask_sources(), known.on(sys.platform)
    selection = select_target(here.targets, here.default_target, os.environ, prefer(answers), here.members)
    return selection, answers


def requirements(known: Distributions, selection: Selection) -> dict[str, list[str]]:
    """Return what is required, by extra; the key "" has what is always required. All in exactly this version.

    Installers keep the answer, and resolvers ask on one platform for all: what is not there on all has a marker.
    """

    def pin(role: str, target: str) -> str:
        marker = known.marker(role, target)
        return f"{known.packages[role].for_target(target).distribution}=={known.version}{marker and f'; {marker}'}"

    # Where there is no target, there is no package for the machine's own.
    chosen = [role for role, names in known.packages.items() if selection.target or not names.is_per_target]
    pins = {role: pin(role, selection.target) for role in chosen}
    extras = {role: [pin] for role, pin in pins.items() if role not in ("core", "device")}
    role_of_targets = "device" if "device" in known.packages else "libraries"
    per_target = {target: pin(role_of_targets, target) for target in known.target_packages()}
    if role_of_targets == "device":
        if "device" in pins:
            extras["device"] = [pins["libraries"], pins["device"]]
        extras.update({f"device-{target}": [pins["libraries"], pin] for target, pin in per_target.items()})
        extras["device-all"] = [pins["libraries"], *per_target.values()]
    elif per_target:
        extras.update({f"libraries-{target}": [pin] for target, pin in per_target.items()})
        extras["libraries-all"] = list(per_target.values())
    return {"": [pins["core"]], **{name.lower(): pins for name, pins in sorted(extras.items())}}


def _choice() -> Choice:
    """Return what this machine gets. Installers keep the wheel and use it elsewhere, so the reason goes with it."""
    known = known_distributions()
    selection, answers = choose(known)
    chosen = {**asdict(selection), "sources": [asdict(answer) for answer in answers]}
    return Choice(
        requirements(known, selection),
        f"rocm: target {selection.target}: {selection.reason}",
        {f"{PACKAGE}/{SELECTED_FILE}": (json.dumps(chosen, indent=2) + "\n").encode()},
    )


_BACKEND = Backend(ROOT, "rocm", lambda: known_distributions().version, _choice, "rocm_build", ENTRY_POINTS)

build_sdist = _BACKEND.build_sdist
build_wheel = _BACKEND.build_wheel
get_requires_for_build_sdist = _BACKEND.get_requires_for_build_sdist
get_requires_for_build_wheel = _BACKEND.get_requires_for_build_wheel
prepare_metadata_for_build_wheel = _BACKEND.prepare_metadata_for_build_wheel
