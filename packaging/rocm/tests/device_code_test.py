"""`rocm-sdk doctor` tells of a GPU that the installed libraries have no code for, and what to do about it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from environments import Environment
from fake_sdk import FakeSdk, distributions
from rocm_sdk.detect import Gpu
from rocm_sdk.device_code import libraries_without_code, missing_device_code
from rocm_sdk.distributions import Distributions, parse_distributions
from rocm_sdk.doctor import Finding

SPLIT, FAMILY, THIN = (parse_distributions(json.dumps(distributions(layout))) for layout in ("split", "family", "thin"))
GFX942, GFX1103 = Gpu("gfx942", False, "kfd"), Gpu("gfx1103", True, "kfd")
GFX90A, GFX1030, GFX1031 = (Gpu(target, False, "kfd") for target in ("gfx90a", "gfx1030", "gfx1031"))
THIN_BY_1030 = parse_distributions(
    json.dumps({**distributions("thin"), "targets": ["gfx1030", "gfx1100", "gfx90a"], "default_target": "gfx1030"})
)
VERSION = "7.10.0.dev0"
NO_CODE = "{}, whose libraries programs get, has no code for the discrete GPU {} (found by kfd)"


def found(known: Distributions, installed: Sequence[str], *gpus: Gpu, chosen: str = "") -> list[tuple[str, str, str]]:
    """Return severities, texts and remedies."""
    selection = {"target": chosen} if chosen else None
    names = [f"rocm-sdk-{name}" for name in installed]
    findings: list[Finding] = list(missing_device_code(known, selection, names, gpus))
    assert {finding.name for finding in findings} <= {"device"}
    return [(finding.severity, finding.text, finding.remedy) for finding in findings]


def test_a_device_package_may_be_missing() -> None:
    packages = ("libraries", "device-gfx1100")
    assert found(SPLIT, packages, GFX942, GFX942) == [
        (
            "problem",
            "rocm-sdk-device-gfx942, the code for the discrete GPU gfx942 (found by kfd), is not installed",
            f'pip install "rocm[device-gfx942]=={VERSION}"',
        )
    ]
    assert not found(SPLIT, packages, Gpu("gfx1100", False, "kfd"))
    assert not found(SPLIT, (*packages, "device-gfx942"), Gpu("gfx1100", False, "kfd"), GFX942)


@pytest.mark.parametrize("known", [SPLIT, FAMILY, THIN], ids=["split", "family", "thin"])
def test_without_libraries_nothing_is_missing(known: Distributions) -> None:
    assert not found(known, ("core", "devel"), GFX942, GFX1031)


def test_an_integrated_gpu_beside_a_served_one_is_a_warning() -> None:
    packages = ("libraries", "device-gfx942")
    text = f"no package of rocm {VERSION} has code for the integrated GPU gfx1103 (found by kfd)"
    assert found(SPLIT, packages, GFX942, GFX1103) == [("warning", text, "Packages exist for gfx1100, gfx942.")]
    assert found(SPLIT, packages, GFX1103) == [("problem", text, "Packages exist for gfx1100, gfx942.")]


def test_a_family_may_not_cover_the_gpu() -> None:
    assert found(FAMILY, ("libraries-gfx110X-all",), GFX942) == [
        (
            "problem",
            NO_CODE.format("rocm-sdk-libraries-gfx110X-all", "gfx942"),
            f'pip uninstall -y rocm-sdk-libraries-gfx110X-all && pip install "rocm[libraries-gfx94x-dcgpu]=={VERSION}"',
        )
    ]
    assert not found(FAMILY, ("libraries-gfx110X-all",), GFX1103)


def test_a_wider_family_than_the_best_serves_as_well() -> None:
    document = {**distributions("family"), "targets": ["gfx9-all", "gfx94X-dcgpu"], "default_target": "gfx9-all"}
    assert not found(parse_distributions(json.dumps(document)), ("libraries-gfx9-all",), GFX942)


def test_a_thin_package_serves_its_target_alone() -> None:
    assert not found(THIN, ("libraries-gfx1030",), GFX1030)
    assert found(THIN, ("libraries-gfx1030",), GFX1031) == [
        (
            "problem",
            f"no package of rocm {VERSION} has code for the discrete GPU gfx1031 (found by kfd)",
            "Packages exist for gfx90a, gfx1030.",
        )
    ]
    assert not found(THIN, ("libraries-gfx90a",), Gpu("gfx90a:sramecc+:xnack-", False, "offload-arch"))


def test_a_thin_package_for_another_target_is_to_be_exchanged() -> None:
    assert found(THIN, ("libraries-gfx90a",), GFX1030, chosen="gfx90a") == [
        (
            "problem",
            NO_CODE.format("rocm-sdk-libraries-gfx90a", "gfx1030"),
            f'pip uninstall -y rocm-sdk-libraries-gfx90a && pip install "rocm[libraries-gfx1030]=={VERSION}"',
        )
    ]


def test_the_right_package_does_not_help_while_another_is_preferred() -> None:
    both = ("libraries-gfx90a", "libraries-gfx1030")
    (finding,) = found(THIN, both, GFX1030, chosen="gfx90a")
    assert finding[2] == "pip uninstall -y rocm-sdk-libraries-gfx90a"
    assert found(THIN, both, GFX1030) == [finding]  # The static wheel chose nothing: the default is preferred.
    assert not found(THIN, both, GFX1030, chosen="gfx1030")


def test_the_preferred_package_is_only_to_be_installed() -> None:
    for chosen in ("", "gfx1030"):
        (finding,) = found(THIN_BY_1030, ("libraries-gfx90a",), GFX1030, chosen=chosen)
        assert finding[2] == f'pip install "rocm[libraries-gfx1030]=={VERSION}"'


def test_of_gpus_without_code_one_gets_this_environment() -> None:
    first, second = found(THIN_BY_1030, ("libraries-gfx1100",), GFX90A, GFX1030, chosen="gfx1030")
    assert first[2] == f'pip uninstall -y rocm-sdk-libraries-gfx1100 && pip install "rocm[libraries-gfx90a]=={VERSION}"'
    assert second[2] == f'In an environment of its own: pip install "rocm[libraries-gfx1030]=={VERSION}"'


def test_gpus_that_differ_want_environments_of_their_own() -> None:
    (finding,) = found(THIN, ("libraries-gfx90a",), GFX90A, GFX1030, chosen="gfx90a")
    assert finding[0] == "problem"
    assert finding[2] == f'In an environment of its own: pip install "rocm[libraries-gfx1030]=={VERSION}"'


def test_gpus_that_differ_want_the_package_that_serves_all() -> None:
    targets = ["gfx1030", "gfx1031", "gfx103X-all"]
    known = parse_distributions(json.dumps({**distributions("thin"), "targets": targets, "default_target": "gfx1030"}))
    (finding,) = found(known, ("libraries-gfx1030",), GFX1030, GFX1031, chosen="gfx1030")
    assert finding[2] == (
        f'pip uninstall -y rocm-sdk-libraries-gfx1030 && pip install "rocm[libraries-gfx103x-all]=={VERSION}"'
    )
    assert not found(known, ("libraries-gfx103X-all",), GFX1030, GFX1031, chosen="gfx1030")


LACKS = {"gfx1030": ["lib/libhipblaslt.so.1", "lib/libhipsparselt.so.0", "share/kernels/"], "gfx90a": []}


def test_what_a_release_has_no_code_for_is_not_missing() -> None:
    (finding,) = libraries_without_code(THIN, None, ["rocm-sdk-libraries-gfx1030"], [GFX1030, GFX1030, GFX90A], LACKS)
    assert (finding.name, finding.severity) == ("device", "note")
    assert finding.text == (
        f"rocm {VERSION} has no code for the discrete GPU gfx1030 (found by kfd) in libhipblaslt, libhipsparselt, "
        "share/kernels/"
    )
    assert finding.remedy == "This release is made so: no package is missing."
    features = Gpu("gfx1030:xnack-", False, "kfd")
    assert list(libraries_without_code(THIN, None, ["rocm-sdk-libraries-gfx1030"], [features], LACKS))
    assert not list(libraries_without_code(THIN, None, ["rocm-sdk-libraries-gfx90a"], [GFX1030, GFX90A], LACKS))
    assert not list(libraries_without_code(THIN, None, ["rocm-sdk-libraries-gfx1030"], [GFX1030], {}))


def machine(directory: Path, *targets: str) -> str:
    """Return the PATH of a machine with these GPUs: the driver shows none, `offload-arch` prints them."""
    directory.mkdir()
    program = directory / "offload-arch"
    program.write_text("#!/bin/sh\n" + "".join(f"echo {target}\n" for target in targets))
    program.chmod(0o755)
    return str(directory)


def doctor(environment: Environment, path: str) -> list[tuple[str, str]]:
    """Return the names and remedies of what doctor finds."""
    report = json.loads(environment.rocm_sdk("doctor", "--json", check=False, PATH=path))
    return [(finding["name"], finding["remedy"]) for finding in report["findings"]]


def test_doctor_on_a_machine_without_a_package_for_its_gpu(
    any_environment: Environment, thin_sdk: FakeSdk, tmp_path: Path
) -> None:
    """The default was installed, for want of a better one, and does not serve."""
    path = machine(tmp_path / "machine", "gfx1031")
    any_environment.install(thin_sdk.index, "rocm[libraries]", PATH=f"{path}:/usr/bin:/bin")
    selected = "selected:  gfx90a (when rocm was installed: no package serves the GPUs of this machine (gfx1031))"
    assert selected in any_environment.rocm_sdk("targets", "--why")
    assert (any_environment.site / "_rocm_sdk_libraries_gfx90a").is_dir()
    assert doctor(any_environment, path) == [("device", "Packages exist for gfx90a, gfx1030.")]
    report = any_environment.rocm_sdk("doctor", check=False, PATH=path)
    assert report.startswith(
        f"problem: device: no package of rocm {VERSION} has code for the discrete GPU gfx1031 (found by offload-arch)\n"
    )


def test_doctor_tells_what_the_release_lacks_from_what_is_missing(
    environment: Environment, thin_sdk: FakeSdk, tmp_path: Path
) -> None:
    environment.install(thin_sdk.index, "rocm[libraries]", ROCM_SDK_TARGET_FAMILY="gfx1030")
    (environment.site / "rocm_sdk/_device_code.json").write_text(json.dumps(LACKS))
    path = machine(tmp_path / "machine", "gfx1030")
    report = environment.rocm_sdk("doctor", PATH=path)
    assert report == (
        f"note: device: rocm {VERSION} has no code for the discrete GPU gfx1030 (found by offload-arch) in "
        "libhipblaslt, libhipsparselt, share/kernels/\n"
        "    This release is made so: no package is missing.\n"
        "0 problems, 0 warnings\n"
    )
    environment.uninstall("rocm-sdk-libraries-gfx1030")
    assert "has no code" not in environment.rocm_sdk("doctor", check=False, PATH=path)


def test_doctor_in_an_image_that_was_built_elsewhere(
    environment: Environment, thin_sdk: FakeSdk, tmp_path: Path
) -> None:
    """What doctor says to do, done, leaves nothing to be said."""
    environment.install(thin_sdk.index, "rocm[libraries]", ROCM_SDK_TARGET_FAMILY="gfx90a")
    path = machine(tmp_path / "machine", "gfx1030")
    exchange = 'pip uninstall -y rocm-sdk-libraries-gfx90a && pip install "rocm[libraries-gfx1030]==7.10.0.dev0"'
    assert [name for name, _ in doctor(environment, path)] == ["target", "device"]
    assert doctor(environment, path)[1] == ("device", exchange)
    environment.install(thin_sdk.index, f"rocm[libraries-gfx1030]=={VERSION}")
    assert doctor(environment, path)[1] == ("device", "pip uninstall -y rocm-sdk-libraries-gfx90a")
    environment.uninstall("rocm-sdk-libraries-gfx90a")
    assert doctor(environment, path) == []
    assert "1 passed, 0 failed" in environment.rocm_sdk("test", "-k", "target", PATH=path)
