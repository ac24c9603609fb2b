"""Each line of docs/using/doctor.md has a test, and names a finding that `rocm-sdk doctor` has.

If you add or change a line there, name it here with the test that shows it.
"""

import re
from typing import Final

from tests.lint.workspace import WORKSPACE

PAGE: Final = "docs/using/doctor.md"
DOCTOR: Final = "packaging/rocm/src/rocm_sdk/doctor"
TESTS: Final = "packaging/rocm/tests"

#: What a line is about, and its test.
SHOWN_BY: Final = (
    ("`rocm-sdk-core` is not installed", "doctor_checks_test.py::test_core_may_be_missing"),
    (
        "a package's Python code was deleted, but not its metadata",
        "doctor_test.py::test_what_is_half_removed_is_installed_again",
    ),
    (
        "a file of a package is missing or has another size",
        "doctor_test.py::test_a_kernel_file_is_gone",
    ),
    ("packages of several versions", "doctor_checks_test.py::test_versions_and_layouts_may_be_mixed"),
    ("packages of another layout", "doctor_checks_test.py::test_versions_and_layouts_may_be_mixed"),
    (
        "packages in several site-packages directories",
        "doctor_checks_test.py::test_packages_may_be_in_several_directories",
    ),
    ("`hipcc` does not start", "doctor_test.py::test_a_compiler_that_cannot_start"),
    (
        "a bug in one of these checks",
        "doctor_checks_test.py::test_a_check_that_breaks_does_not_keep_the_others_from_being_done",
    ),
    (
        "the tree is of another version than `rocm`, or core is not beside it",
        "devel_test.py::test_another_version_is_refused",
    ),
    (
        "a link is missing or wrong, also in a tree that was deleted",
        "doctor_test.py::test_a_tree_with_a_missing_link",
    ),
    (
        "links have to be made, and site-packages is read-only",
        "doctor_test.py::test_a_tree_where_nothing_can_be_written",
    ),
    (
        "a library in the tree is a second copy, so that a process could have it twice",
        "doctor_checks_test.py::test_a_tree_with_a_second_copy_of_a_library",
    ),
    (
        "a manifest of links is missing or damaged",
        "devel_test.py::test_a_damaged_manifest_is_one_sentence",
    ),
    ("no AMD GPU, or no driver", "doctor_test.py::test_a_machine_of_a_ci_has_no_problems"),
    ("`/dev/kfd` without `/sys`", "doctor_test.py::test_a_device_without_sys"),
    (
        "an AMD GPU that the driver does not offer to ROCm",
        "doctor_test.py::test_a_gpu_without_its_driver",
    ),
    (
        "a GPU, but no `/dev/kfd` or `/dev/dri` device",
        "doctor_test.py::test_a_container_without_devices",
    ),
    ("this user may not open these devices", "doctor_checks_test.py::test_the_devices_group_gives_access"),
    (
        "`HIP_VISIBLE_DEVICES`, `CUDA_VISIBLE_DEVICES` or `ROCR_VISIBLE_DEVICES` hides all GPUs",
        "doctor_test.py::test_variables_that_hide_the_gpu",
    ),
    (
        "`ROCM_SDK_TARGET_FAMILY` or `ROCM_BOOTSTRAP_FORCE_GFX_ARCH` has an unknown value",
        "doctor_test.py::test_a_variable_that_asks_for_no_gpu_does_not_stop_the_others",
    ),
    (
        "`rocm` was installed for another GPU",
        "mismatch_test.py::test_a_cached_choice_is_reported_and_the_command_given_makes_it_anew",
    ),
    (
        "no installed package has code for a GPU",
        "device_code_test.py::test_doctor_on_a_machine_without_a_package_for_its_gpu",
    ),
    (
        "some libraries of the release have no code for a GPU",
        "device_code_test.py::test_doctor_tells_what_the_release_lacks_from_what_is_missing",
    ),
    (
        "a library does not load with your environment variables",
        "doctor_checks_test.py::test_the_system_may_be_too_old",
    ),
    ("a second `libamdhip64` in every Python process", "doctor_test.py::test_a_second_hip_is_loaded"),
    (
        "a directory of `LD_LIBRARY_PATH` with libraries of the same names",
        "doctor_checks_test.py::test_libraries_may_be_hidden",
    ),
    (
        "`OCL_ICD_FILENAMES` or `OCL_ICD_VENDORS` names a driver of OpenCL that is not there",
        "doctor_checks_test.py::test_opencl_drivers_that_are_gone",
    ),
    (
        "ROCm in `/opt` or in the system's directories",
        "doctor_checks_test.py::test_a_second_rocm_on_the_machine",
    ),
    (
        "a ROCm program on `PATH` from elsewhere",
        "doctor_checks_test.py::test_programs_may_be_others",
    ),
    (
        "a Python package with its own HIP",
        "doctor_checks_test.py::test_a_framework_may_bring_a_hip_of_its_own",
    ),
    ("PyTorch or vLLM built for CUDA", "doctor_test.py::test_builds_for_cuda"),
    ("vLLM without `amdsmi`", "doctor_test.py::test_what_frameworks_import"),
    (
        "`ROCM_PATH`, `HIP_PATH` or a similar variable leads elsewhere",
        "doctor_checks_test.py::test_variables_may_lead_elsewhere",
    ),
)


def rows() -> list[list[str]]:
    """Return the cells of all tables of the page."""
    lines = (WORKSPACE / PAGE).read_text(encoding="utf-8").splitlines()
    cells = [line.strip("| ").split(" | ") for line in lines if line.startswith("| ")]
    return [row for row in cells if row[0] != "what"]


def test_every_line_has_a_test() -> None:
    assert [row[0] for row in rows()] == [line for line, _ in SHOWN_BY]


def test_every_test_is_there() -> None:
    for line, test in SHOWN_BY:
        file, _, name = test.partition("::")
        text = (WORKSPACE / TESTS / file).read_text(encoding="utf-8")
        assert f"def {name}(" in text, f"{line}: {test}"


def test_the_page_has_all_names_of_findings() -> None:
    sources = [*sorted((WORKSPACE / DOCTOR).glob("*.py")), WORKSPACE / DOCTOR / "../device_code.py"]
    text = "".join(path.read_text(encoding="utf-8") for path in sources)
    named = set(re.findall(r'Finding\(\s*"(\w+)"', text))
    assert {row[1].strip("`") for row in rows()} == named


def test_the_page_has_all_severities() -> None:
    assert {row[2] for row in rows()} == {"problem", "warning", "note"}
