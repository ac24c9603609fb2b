"""Finding GPUs of this machine for which libraries have no code: a part of `rocm-sdk doctor`.

What has code for which target, the names of the packages say. In the layout `split` device packages add to the one
libraries package, all of them. In the layouts `family` and `thin` there are libraries packages per target, and a
process gets its libraries from one of them. Of single libraries the build says which have no code for which target, in
`_device_code.json`: of those nothing is missing, and no package brings more.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .detect import Gpu
from .distributions import Distributions
from .doctor import Finding
from .system import IS_WINDOWS
from .targets import match_target

LACKS_FILE = "_device_code.json"


def load_lacks() -> dict[str, list[str]]:
    """Return the libraries of the release that have no code for a target, by the target; nothing if nobody wrote it.

    The build only knows it of the libraries for Linux.
    """
    path = Path(__file__).parent / LACKS_FILE
    is_known = path.is_file() and not IS_WINDOWS
    lacks: dict[str, list[str]] = json.loads(path.read_text("utf-8")) if is_known else {}
    return lacks


def libraries_without_code(
    known: Distributions,
    selection: Mapping[str, Any] | None,
    installed: Collection[str],
    gpus: Sequence[Gpu],
    lacks: Mapping[str, Sequence[str]],
) -> Iterator[Finding]:
    """Say of GPUs that the `installed` distributions serve which libraries do not, because the release is made so.

    The arguments are as in `missing_device_code`; `lacks` is what `load_lacks` returns.
    """
    in_use = known.targets_in_use(selection, installed)
    for gpu in dict.fromkeys(gpus):
        libraries = lacks.get(gpu.target.partition(":")[0], ())
        if libraries and match_target(gpu.target, in_use, known.members):
            names = ", ".join(path.rpartition("/")[2].partition(".so")[0] or path for path in libraries)
            text = f"rocm {known.version} has no code for the {gpu.describe()} in {names}"
            yield Finding("device", "note", text, "This release is made so: no package is missing.")


def missing_device_code(
    known: Distributions, selection: Mapping[str, Any] | None, installed: Collection[str], gpus: Sequence[Gpu]
) -> Iterator[Finding]:
    """Find GPUs for which a process finds no code in the `installed` distributions.

    `selection` is what was chosen when `rocm` was installed. For an integrated GPU beside a served one there is only a
    warning. Without the libraries nothing is missing; nor if no package is for one target, so that the libraries
    have all code that there is.
    """
    per_target = known.target_packages()
    if not per_target:
        return
    libraries = [names.distribution for role, names in known.packages.items() if role == "libraries"]
    if not any(name in installed for name in [*libraries, *(names.distribution for names in per_target.values())]):
        return
    in_use = known.targets_in_use(selection, installed)
    any_served = any(match_target(gpu.target, in_use, known.members) for gpu in gpus)
    environment_taken = any_served  # what libraries it has is settled: by a GPU that is served, or by a remedy
    for gpu in dict.fromkeys(gpus):
        if match_target(gpu.target, in_use, known.members):
            continue
        severity = "warning" if gpu.integrated and any_served else "problem"
        target = _wanted(known, gpu, gpus)
        if target is None:
            text = f"no package of rocm {known.version} has code for the {gpu.describe()}"
            yield Finding("device", severity, text, f"Packages exist for {', '.join(known.targets)}.")
        elif "device" in known.packages:
            text = f"{per_target[target].distribution}, the code for the {gpu.describe()}, is not installed"
            yield Finding("device", severity, text, _install(known, f"device-{target}"))
        else:
            used = per_target[in_use[0]].distribution
            text = f"{used}, whose libraries programs get, has no code for the {gpu.describe()}"
            remedy = _change_libraries(known, selection, installed, target)
            if environment_taken and not all(match_target(one.target, [target], known.members) for one in gpus):
                remedy = f"In an environment of its own: {_install(known, f'libraries-{target}')}"
            environment_taken = True
            yield Finding("device", severity, text, remedy)


def _wanted(known: Distributions, gpu: Gpu, gpus: Sequence[Gpu]) -> str | None:
    """Return the target whose package a GPU should have, preferably a target that serves all GPUs of the machine."""
    members = known.members
    for_all = [target for target in known.targets if all(match_target(one.target, [target], members) for one in gpus)]
    return match_target(gpu.target, for_all, members) or match_target(gpu.target, known.targets, members)


def _change_libraries(
    known: Distributions, selection: Mapping[str, Any] | None, installed: Collection[str], target: str
) -> str:
    """Return the command after which programs get the libraries for a target: those preferred to them have to go."""
    packages = known.target_packages()
    order = known.by_preference(selection)
    preferred = [packages[one].distribution for one in order[: order.index(target)]]
    removed = " ".join(name for name in preferred if name in installed)
    commands = [f"pip uninstall -y {removed}"] if removed else []
    if packages[target].distribution not in installed:
        commands.append(_install(known, f"libraries-{target}"))
    return " && ".join(commands)


def _install(known: Distributions, extra: str) -> str:
    return f'pip install "rocm[{extra.lower()}]=={known.version}"'
