"""Writes the answer of `rocm-sdk targets`: all targets, the chosen target and why, and what would be chosen now.

`target_list` is for programs: builds of PyTorch take it as PYTORCH_ROCM_ARCH.
"""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import Any

from .detect import ask_sources, prefer
from .distributions import load_distributions, load_selection
from .gpus.families import parse_family
from .gpus.table import TARGETS
from .targets import ENVIRONMENT_VARIABLE, select_target, selection_in_effect


def target_list() -> list[str]:
    """Return the GPU targets that these packages are for: of a family, those that ROCm's builds make code for."""
    known = load_distributions()
    return [target for name in known.targets for target in known.members.get(name) or _members(name)]


def _members(name: str) -> list[str]:
    family = parse_family(name)
    return [one.name for one in TARGETS if one.built and family.has(one.name)] if family else [name]


def target_facts(*, detect: bool) -> dict[str, Any]:
    """Return the facts as JSON data.

    `selected` is what the build backend recorded (None for the static wheel), `in_effect` what processes use here: the
    environment variable goes before it. With `detect` there is `detected`: what a new installation would choose here
    and now, with the answers of all sources. Raises TargetError if the variable asks for a target that is not there.
    """
    known = load_distributions()
    facts: dict[str, Any] = {
        "available": list(known.targets),
        "layout": known.layout,
        "default": known.default_target,
        "selected": load_selection(),
        "in_effect": selection_in_effect(known),
    }
    if detect:
        answers = ask_sources()
        selection = select_target(known.targets, known.default_target, os.environ, prefer(answers), known.members)
        facts["detected"] = {
            **asdict(selection),
            "environment": {ENVIRONMENT_VARIABLE: os.environ.get(ENVIRONMENT_VARIABLE)},
            "gpus": [asdict(gpu) for gpu in prefer(answers)],
            "sources": [asdict(answer) for answer in answers],
        }
    return facts


def describe(facts: dict[str, Any]) -> str:
    """Return the facts in words, a line each."""
    lines = [f"available: {' '.join(facts['available']) or 'none: no package is for one target'}"]
    selected, used, detected = facts["selected"], facts["in_effect"], facts.get("detected")
    if selected:
        lines.append(f"selected:  {selected['target']} (when rocm was installed: {selected['reason']})")
    else:
        lines.append("selected:  none (this is the static wheel: extras name the target)")
    if used and used != selected:
        lines.append(f"in use:    {used['target']} ({used['reason']})")
    if detected:
        lines.append(f"now:       {detected['target']} ({detected['reason']})")
        lines += [f"           {answer['source']}: {answer['remark']}" for answer in detected["sources"]]
    return "\n".join(lines)
