"""A choice of target that is no longer right: when it is said, and that the command given puts it right."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from environments import Environment
from fake_sdk import FakeSdk, distributions
from rocm_sdk.detect import Gpu
from rocm_sdk.distributions import parse_distributions
from rocm_sdk.errors import TargetError
from rocm_sdk.mismatch import choose_again, find_mismatch, requirement

SPLIT = parse_distributions(json.dumps(distributions("split")))
FAMILY = parse_distributions(json.dumps(distributions("family")))
THIN = parse_distributions(json.dumps(distributions("thin")))
VARIABLE = "ROCM_SDK_TARGET_FAMILY"
CHOSEN = {"target": "gfx942", "source": "detection", "reason": "discrete GPU gfx942 (found by kfd) is served by gfx942"}
GFX942, GFX1100 = Gpu("gfx942", False, "kfd"), Gpu("gfx1100", False, "kfd")
INSTALLED = ("rocm-sdk-core", "rocm-sdk-libraries", "rocm-sdk-device-gfx942")


def test_another_gpu_is_a_mismatch() -> None:
    assert find_mismatch(SPLIT, CHOSEN, {}, [GFX1100], INSTALLED) == (
        "rocm was installed for gfx942 (discrete GPU gfx942 (found by kfd) is served by gfx942), but here discrete GPU "
        "gfx1100 (found by kfd) is served by gfx1100."
    )


def test_another_wish_is_a_mismatch() -> None:
    fault = find_mismatch(SPLIT, CHOSEN, {VARIABLE: "gfx1100"}, [GFX942], INSTALLED)
    assert fault is not None
    assert fault.endswith("but here ROCM_SDK_TARGET_FAMILY is gfx1100.")


@pytest.mark.parametrize(
    ("environ", "gpus", "installed"),
    [
        pytest.param({}, [GFX942], INSTALLED, id="the same GPU"),
        pytest.param({}, [], INSTALLED, id="no GPU: an image is built elsewhere than it runs"),
        pytest.param({}, [Gpu("gfx803", False, "kfd")], INSTALLED, id="a GPU that no package serves"),
        pytest.param({}, [GFX1100, GFX942], INSTALLED, id="it serves another GPU of this machine"),
        pytest.param({VARIABLE: "gfx942"}, [GFX1100], INSTALLED, id="the same wish"),
        pytest.param({}, [GFX1100], (*INSTALLED, "rocm-sdk-device-gfx1100"), id="both are installed"),
    ],
)
def test_no_mismatch(environ: dict[str, str], gpus: list[Gpu], installed: tuple[str, ...]) -> None:
    assert find_mismatch(SPLIT, CHOSEN, environ, gpus, installed) is None


def test_a_libraries_package_that_no_process_uses_is_no_help() -> None:
    """Of two of them a process gets the libraries of one: of the target that was chosen."""
    chosen = {"target": "gfx90a", "source": "default", "reason": "no AMD GPU was found"}
    gpu = Gpu("gfx1030", False, "x")
    both = ["rocm-sdk-core", "rocm-sdk-libraries-gfx90a", "rocm-sdk-libraries-gfx1030"]
    assert find_mismatch(THIN, chosen, {}, [gpu], both) == (
        "rocm was installed for gfx90a (no AMD GPU was found), but here discrete GPU gfx1030 (found by x) is served by "
        "gfx1030."
    )
    assert find_mismatch(THIN, chosen, {}, [gpu], [both[0], both[2]]) is None
    assert find_mismatch(THIN, {**chosen, "target": "gfx1030"}, {}, [gpu], both) is None
    assert find_mismatch(THIN, chosen, {}, [gpu, Gpu("gfx90a", False, "x")], both) is None


def test_a_family_that_was_wished_for_and_serves_is_no_mismatch() -> None:
    targets = {"targets": ["gfx9-all", "gfx94X-dcgpu"], "default_target": "gfx9-all"}
    known = parse_distributions(json.dumps({**distributions("family"), **targets}))
    chosen = {"target": "gfx9-all", "source": "environment", "reason": "ROCM_SDK_TARGET_FAMILY is gfx9-all"}
    assert find_mismatch(known, chosen, {}, [GFX942], ["rocm-sdk-libraries-gfx9-all"]) is None


def test_the_static_wheel_chose_nothing() -> None:
    assert find_mismatch(SPLIT, None, {VARIABLE: "gfx1100"}, [GFX1100], INSTALLED) is None


def test_an_unknown_wish_is_an_error() -> None:
    with pytest.raises(TargetError, match="gfx1: there is no package for this target"):
        find_mismatch(SPLIT, CHOSEN, {VARIABLE: "gfx1"}, [], INSTALLED)


def test_the_requirement_has_the_extras_that_are_installed() -> None:
    assert requirement(SPLIT, ["rocm-sdk-core"]) == "rocm==7.10.0.dev0"
    assert requirement(SPLIT, [*INSTALLED, "rocm-profiler"]) == "rocm[device,libraries,profiler]==7.10.0.dev0"
    installed = ["rocm-sdk-core", "rocm-sdk-libraries-gfx94X-dcgpu", "rocm-sdk-devel"]
    assert requirement(FAMILY, installed) == "rocm[devel,libraries]==7.10.0.dev0"
    assert requirement(THIN, ["rocm-sdk-core", "rocm-sdk-libraries-gfx1030"]) == "rocm[libraries]==7.10.0.dev0"
    assert choose_again(FAMILY, {}, "pip") != choose_again(FAMILY, {}, "uv")


def chosen(environment: Environment) -> str:
    """Return the target that the installed `rocm` was built for."""
    text = (environment.site / "rocm_sdk/_selected.json").read_text("utf-8")
    return str(json.loads(text)["target"])


@pytest.mark.parametrize("installer", ["pip", "uv"])
def test_a_cached_choice_is_reported_and_the_command_given_makes_it_anew(
    installer: str, split_sdk: FakeSdk, tmp_path: Path
) -> None:
    """Two environments share the installer's cache, as all of a user's do; the second is for another target."""
    cache = {name: str(tmp_path / "cache") for name in ("PIP_CACHE_DIR", "UV_CACHE_DIR")}
    first, second = (Environment.create(tmp_path / name, installer) for name in ("first", "second"))
    first.install(split_sdk.index, "rocm[device,devel]", check=True, **cache, **{VARIABLE: "gfx942"})
    wish = {VARIABLE: "gfx1100"}
    second.install(split_sdk.index, "rocm[device,devel]", check=True, **cache, **wish)
    assert chosen(second) == "gfx942"  # If this fails, installers no longer cache: drop all this.

    reports = {
        "init": second.rocm_sdk("init", check=True, **wish),
        "test": second.rocm_sdk("test", "-k", "target", check=False, **wish),
        "doctor": json.loads(second.rocm_sdk("doctor", "--json", check=False, **wish)),
    }
    sentence = (
        "rocm was installed for gfx942 (ROCM_SDK_TARGET_FAMILY is gfx942), but here ROCM_SDK_TARGET_FAMILY is gfx1100."
    )
    assert f"rocm-sdk: warning: {sentence} Choose again: " in reports["init"]
    assert f"failed  target: {sentence} Choose again: " in reports["test"]
    finding = next(finding for finding in reports["doctor"]["findings"] if finding["name"] == "target")
    assert finding["text"] == sentence
    assert finding["remedy"] in reports["init"]
    assert "rocm-sdk: warning" not in second.rocm_sdk("init", "--quiet", check=True, **wish)

    run_as_printed(finding["remedy"], second, split_sdk, {**cache, **wish})
    assert chosen(second) == "gfx1100"
    assert (second.site / "_rocm_sdk_libraries/lib/rocblas/library/Kernels_gfx1100.co").exists()
    assert "1 passed, 0 failed" in second.rocm_sdk("test", "-k", "target", check=True, **wish)


def run_as_printed(command: str, environment: Environment, sdk: FakeSdk, variables: dict[str, str]) -> None:
    """Run a command in the environment as a user does; only the place of the distributions is added."""
    places = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(sdk.index), "UV_FIND_LINKS": str(sdk.index)}
    programs = f'pip() {{ {" ".join(environment.installer_command("pip"))} "$@"; }}; '
    programs += f'uv() {{ shift; {" ".join(environment.installer_command("uv"))} "$@" --no-index; }}; '
    script = f"set -e; {programs}{command}"
    environ = {**os.environ, **places, **variables, "HOME": str(environment.root), "VIRTUAL_ENV": str(environment.root)}
    done = subprocess.run(["bash", "-c", script], env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
