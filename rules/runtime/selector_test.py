"""The choice that a selector's build backend makes, of what the build wrote and what the SDK's probe says."""

import importlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

SELECTOR = Path(__file__).parent / "selector"
KNOWN = {
    "name": "acme",
    "version": "1.0",
    "variable": "ACME_GPU",
    "default": "old",
    "gpus": {"sm_80": "old", "sm_86": "old", "sm_90": "sm_90"},
    "devices": {"old": ["acme-old==1.0"], "sm_90": ["acme-sm-90==1.0"]},
    "requirements": {"": ["acme-core==1.0"]},
    "entry_points": "",
}
Load = Callable[[str], ModuleType]


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Load]:
    """Unpack a backend with a probe, and import it."""
    names = ("probe_build", "selector_backend", "probe")
    backend = tmp_path / "backend"
    backend.mkdir()

    def imported(probe: str) -> ModuleType:
        for name in names[:2]:
            (backend / f"{name}.py").write_bytes((SELECTOR / f"{name}.py").read_bytes())
        (backend / "probe.py").write_text(f"def gpus():\n    return {probe}\n")
        (backend / "selector.json").write_text(json.dumps(KNOWN))
        return importlib.import_module("probe_build")

    monkeypatch.syspath_prepend(str(backend))
    yield imported
    for name in names:
        sys.modules.pop(name, None)


@pytest.mark.parametrize(
    ("probe", "environ", "target", "reason"),
    [
        ("['sm_90', 'sm_80']", {}, "sm_90", "this machine has the GPU sm_90"),
        ("['sm_70', 'sm_86']", {}, "old", "this machine has the GPU sm_86"),
        ("['sm_70']", {}, "old", "no package serves the GPUs of this machine (sm_70)"),
        ("[]", {}, "old", "no GPU was found"),
        ("1 / 0", {"ACME_GPU": "sm_90"}, "sm_90", "ACME_GPU is sm_90"),
        ("1 / 0", {"ACME_GPU": "old"}, "old", "ACME_GPU is old"),
    ],
)
def test_the_choice(load: Load, probe: str, environ: dict[str, str], target: str, reason: str) -> None:
    chosen = load(probe).choose(KNOWN, environ)
    assert (chosen["target"], chosen["reason"]) == (target, reason)


@pytest.mark.parametrize(
    ("probe", "known", "message"),
    [
        (
            "[]",
            {"default": ""},
            "acme: no GPU was found. Set ACME_GPU to the GPU to install for: old, sm_80, sm_86, sm_90",
        ),
        (
            "['sm_70']",
            {"default": "", "variable": ""},
            "acme: no package serves the GPUs of this machine (sm_70). Install it on a machine with one of old,",
        ),
        ("'sm_90'", {}, "acme: probe.gpus() returned 'sm_90'; expected a list of names of GPUs"),
        (
            "1 / 0",
            {"default": ""},
            "acme: the probe failed: ZeroDivisionError: division by zero. Set ACME_GPU to the GPU",
        ),
    ],
)
def test_no_choice_is_a_message(load: Load, probe: str, known: dict[str, str], message: str) -> None:
    with pytest.raises(SystemExit) as error:
        load(probe).choose({**KNOWN, **known}, {})
    assert str(error.value).startswith(message)


def test_a_probe_that_fails_leaves_the_default(load: Load) -> None:
    chosen = load("1 / 0").choose(KNOWN, {})
    assert (chosen["target"], chosen["source"]) == ("old", "default")
    assert chosen["reason"] == "the probe failed: ZeroDivisionError: division by zero"


def test_an_unknown_gpu_in_the_variable(load: Load) -> None:
    with pytest.raises(SystemExit, match=r"^ACME_GPU=sm_70: there is no package for this GPU\. Available: old, "):
        load("[]").choose(KNOWN, {"ACME_GPU": "sm_70"})
