"""A build without code for any GPU target: nothing to choose, and nothing that breaks for it."""

from __future__ import annotations

import json

import pytest
import rocm_build
from rocm_sdk import libraries
from rocm_sdk.detect import Gpu
from rocm_sdk.device_code import missing_device_code
from rocm_sdk.distributions import Distributions, parse_distributions
from rocm_sdk.libraries import find_libraries, find_tree
from rocm_sdk.selfcheck import SkipError
from rocm_sdk.selfcheck.packages import check_target
from rocm_sdk.targets import select_target

CORE = {"distribution": "rocm-sdk-core", "import": "rocm_sdk_core", "tree": "_rocm_sdk_core"}
LIBRARIES = {"distribution": "rocm-sdk-libraries", "import": "rocm_sdk_libraries", "tree": "_rocm_sdk_libraries"}


def without_targets(layout: str) -> Distributions:
    """Make what the build writes when no artifact has a target; only the split layout then has a libraries package."""
    packages = {"core": CORE, "libraries": LIBRARIES} if layout == "split" else {"core": CORE}
    document = {"version": "1.0", "layout": layout, "targets": [], "default_target": "", "packages": packages}
    return parse_distributions(json.dumps(document))


@pytest.mark.parametrize("layout", ["split", "family", "thin"])
def test_backend_requires_what_there_is(layout: str) -> None:
    known = without_targets(layout)
    selection = select_target(known.targets, known.default_target, {}, ())
    wanted = {"": ["rocm-sdk-core==1.0"]}
    if layout == "split":
        wanted["libraries"] = ["rocm-sdk-libraries==1.0"]
    assert rocm_build.requirements(known, selection) == wanted


def test_check_of_the_target_is_skipped() -> None:
    with pytest.raises(SkipError, match="no package per GPU target"):
        check_target(without_targets("split"), {})


def test_libraries_that_were_not_built_are_said_to_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    known = without_targets("family")
    monkeypatch.setattr(libraries, "load_distributions", lambda directory=None: known)
    with pytest.raises(ModuleNotFoundError, match=r"rocm 1\.0 was built without the package `libraries`"):
        find_libraries("hipblas")
    assert find_tree("libraries", known) is None


def test_no_gpu_lacks_a_package() -> None:
    """Doctor named one for a GPU, `Packages exist for .`: a false alarm on each machine with a GPU."""
    gpu = Gpu("gfx942", False, "kfd")
    assert not list(missing_device_code(without_targets("split"), None, ["rocm-sdk-libraries"], [gpu]))
