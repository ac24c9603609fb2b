"""Each line of docs/reference/packages.md on what stops the build, and what is noted, has a test.

If you add or change a line there, name it here with the test that shows it.
"""

from tests.lint.workspace import WORKSPACE

PAGE = "docs/reference/packages.md"
HEADLINE = "## What stops the build, and what is noted\n"

#: What a line is about, and its test: `file::function`, in Starlark `file::case`.
SHOWN_BY = (
    # Artifacts, as they are found
    (
        "a set-user-ID or set-group-ID file",
        "tools/fetch/catalog/bad_input_test.py::test_files_that_run_as_another_user",
    ),
    ("a file with capabilities (setcap)", "tools/fetch/catalog/bad_input_test.py::test_files_with_capabilities"),
    (
        "other extended attributes, and access control lists",
        "tools/fetch/catalog/catalog_test.py::test_other_attributes_and_access_lists_are_left_out",
    ),
    ("a file that nobody may read", "tools/fetch/catalog/bad_input_test.py::test_a_file_that_nobody_may_read"),
    (
        "an unreadable directory or archive",
        "tools/fetch/catalog/bad_input_test.py::test_a_directory_that_nobody_may_read",
    ),
    (
        "other modes than 0644 and 0755",
        "tools/fetch/catalog/catalog_test.py::test_modes_say_what_is_executable_and_nothing_else",
    ),
    (
        "a mode of `sdk_artifact` that is not allowed in packages",
        "tests/analysis/artifact_tests.bzl::mode_set_user_id",
    ),
    (
        "a name that is not UTF-8, or with control characters",
        "tools/fetch/catalog/bad_input_test.py::test_names_that_are_not_utf_8",
    ),
    ("anything except files, directories and links", "tools/fetch/catalog/bad_input_test.py::test_fifo"),
    (
        "a link whose text leads out of its base directory",
        "tools/fetch/catalog/bad_input_test.py::test_link_that_leads_outside",
    ),
    (
        "a base directory that does not exist",
        "tools/fetch/catalog/catalog_test.py::test_base_directories_that_are_not_there_are_empty",
    ),
    (
        "the same, but unlisted directories have files",
        "tools/fetch/catalog/bad_input_test.py::test_a_manifest_that_would_lose_files",
    ),
    # Several of one path or name
    ("a duplicate artifact name in a package", "tests/analysis/package_tests.bzl::alike"),
    (
        "artifacts with the same path, but different kinds, link texts or sizes",
        "tools/actions/plan/prefix_test.py::test_artifacts_that_differ_are_both_named",
    ),
    (
        "files with the same path and size, but different content",
        "tools/actions/link/packed_tree_test.py::test_different_content_for_one_path_names_both_sources_and_the_remedy",
    ),
    (
        "a path below a file or a link of another artifact",
        "tools/actions/plan/prefix_test.py::test_a_path_below_something_that_is_no_directory",
    ),
    (
        "equal files, one of them executable",
        "tools/actions/plan/prefix_test.py::test_a_file_is_executable_if_one_artifact_says_so",
    ),
    (
        "the same path in a package and in a package that it builds on",
        "tools/actions/plan/runtime_test.py::test_one_path_in_two_packages_is_an_error",
    ),
    (
        "the same path in two packages that are installed together",
        "tools/actions/plan/devel_test.py::test_packages_that_are_installed_together_may_not",
    ),
    ("several of `srcs`, `files` or licence texts at the same path", "tests/analysis/wheel_tests.bzl::alike"),
    (
        "one of `files` at the path of a file of the tree",
        "tools/actions/link/tool_test.py::test_a_file_of_the_tree_may_not_be_given_again",
    ),
    # Links
    ("a link that leads nowhere", "tools/actions/plan/tool_test.py::test_links_that_dangle_are_noted_in_one_line"),
    (
        "a link to a directory, or an empty directory, in a runtime package",
        "tools/actions/plan/runtime_test.py::test_what_a_wheel_cannot_hold_is_dropped",
    ),
    (
        "a link to a program, script or library that the package excludes",
        "tools/actions/plan/runtime_test.py::test_launcher_whose_target_is_excluded_is_dropped",
    ),
    (
        "a link to data of another package",
        "tools/actions/plan/runtime_test.py::test_link_to_data_of_another_package_is_an_error",
    ),
    (
        "a link to a program that is not executable",
        "tools/actions/plan/runtime_test.py::test_launcher_to_a_program_that_may_not_be_executed_is_an_error",
    ),
    (
        "a link to a script that is not executable",
        "tools/actions/plan/runtime_test.py::test_link_to_a_script_becomes_a_launcher_only_if_it_can_be_run",
    ),
    (
        "a link to a program for another CPU than the launchers'",
        "tools/actions/pack/tool_test.py::test_launcher_for_another_cpu",
    ),
    (
        "a target that is too long for a launcher",
        "lib/pack/launcher_test.py::test_a_target_may_fill_the_section_but_not_more",
    ),
    # ELF files
    (
        "a different library than the one under its SONAME",
        "tools/actions/plan/runtime_test.py::test_another_build_of_a_library_is_kept",
    ),
    (
        "a library that nothing provides under its SONAME",
        "tools/actions/plan/runtime_test.py::test_library_that_nothing_provides_under_its_soname_is_kept",
    ),
    (
        "libraries with the same SONAME, size and facts, but different content",
        "tools/actions/link/packed_tree_test.py::test_different_libraries_of_one_soname_and_size_are_named",
    ),
    (
        "a file where a package below has a forwarder",
        "tools/actions/plan/forwarders_test.py::test_a_real_file_where_a_package_below_has_a_forwarder_is_an_error",
    ),
    (
        "an ELF file that cannot be read",
        "tools/actions/plan/runtime_test.py::test_damaged_elf_file_stops_the_package_that_packs_it",
    ),
    (
        "a file called like a library (`libfoo.so`, `libLLVM.so.23.0git`) that is neither ELF nor a linker script",
        "tools/actions/inspect/tool_test.py::test_what_is_called_like_a_library_and_is_none",
    ),
    (
        "a pointer of Git LFS instead of a file",
        "tools/actions/inspect/tool_test.py::test_a_pointer_of_git_lfs_is_no_file_whatever_its_name",
    ),
    (
        "a file that cannot have an RPATH (static, also as PIE, 32-bit, the dynamic loader)",
        "tools/actions/plan/runtime_test.py::test_plan_says_why_a_file_gets_no_rpath",
    ),
    ("an RPATH that cannot be written", "tools/actions/pack/tool_test.py::test_what_cannot_be_patched_stops_the_build"),
    (
        "a file that needs only the system's libraries, and opens none",
        "tools/actions/plan/rpath_files_test.py::test_a_file_that_the_system_serves_gets_no_entries",
    ),
    (
        "RPATH entries of the build machine",
        "tools/actions/plan/runtime_test.py::test_entries_of_the_build_machine_are_named_in_the_reason",
    ),
    (
        "RPATH entries that lead to no file of the packages",
        "tools/actions/plan/rpath_files_test.py::test_entries_that_lead_nowhere_are_kept",
    ),
    (
        "an RPATH directory outside the trees of the package and its `builds_on`",
        "tools/actions/plan/rpath_test.py::test_a_directory_outside_the_trees_is_refused",
    ),
    (
        "an RPATH directory in which its tree has no file",
        "tools/actions/plan/rpath_files_test.py::test_a_directory_that_its_tree_lacks_is_refused",
    ),
    (
        "a packaged library that a file needs, but does not find",
        "tools/actions/platform_tag/tool_test.py::test_a_packaged_library_that_is_not_reached_is_noted",
    ),
    (
        "a platform tag that promises too much",
        "tools/actions/platform_tag/tool_test.py::test_one_tag_of_a_set_that_promises_more",
    ),
    (
        "files for CPUs other than the platform tag's",
        "tools/actions/platform_tag/tool_test.py::test_a_package_for_another_architecture",
    ),
    # Device code
    (
        "thin packages: code, or a file name, for a target without a package",
        "tools/actions/plan/slicing_test.py::test_code_for_a_target_of_no_package_stops_the_build",
    ),
    (
        "thin packages: a file whose path names only targets of `ROCM_TARGETS_LEFT_OUT`",
        "tools/actions/plan/devel_test.py::test_damaged_file_for_a_target_that_no_package_is_for_is_left_out",
    ),
    (
        "thin packages: a file named for one GPU target, with code for others",
        "tools/actions/plan/slicing_test.py::test_a_name_that_contradicts_the_code_stops_the_build",
    ),
    ("thin packages: code that cannot be read", "tools/actions/plan/slicing_test.py::test_code_that_cannot_be_read"),
    (
        "code that cannot be read, in other packages",
        "tools/actions/coverage/compute_test.py::test_what_could_not_be_read_is_said",
    ),
    (
        "thin packages: a library without code for the package's target",
        "tools/actions/coverage/tool_test.py::test_one_note_says_what_packages_lack",
    ),
    (
        "thin packages: a target that lacks most base libraries",
        "tools/actions/coverage/tool_test.py::test_what_lacks_the_base_libraries_is_not_to_be_offered",
    ),
    # Packages and wheels
    (
        "a pattern of `include` or `exclude` that matches no path",
        "tools/actions/plan/tool_test.py::test_patterns_that_match_nothing_are_refused",
    ),
    ("a pattern of `allow_unmatched` that is in neither", "tests/analysis/package_tests.bzl::_forgotten_test"),
    (
        "a package without artifacts",
        "tools/actions/plan/tool_test.py::test_a_package_of_no_artifact_is_refused",
    ),
    (
        "a package whose artifacts are empty, or whose files are all excluded",
        "tools/actions/plan/tool_test.py::test_a_package_that_holds_nothing_is_refused",
    ),
    (
        "one of ROCm's packages without an artifact in the directory",
        "tools/actions/plan/tool_test.py::test_a_package_that_may_be_empty_is_noted",
    ),
    (
        "a big file that a devel package does not pack (`repacked`)",
        "tools/actions/plan/tool_test.py::test_a_big_file_that_nothing_packs_is_an_error",
    ),
    (
        "a console script whose tool the package does not contain",
        "tools/actions/link/tool_test.py::test_no_entry_points_without_tools",
    ),
    (
        "a Python package to import that the package does not contain",
        "tools/actions/link/tool_test.py::test_python_packages_of_the_tree_can_be_imported",
    ),
    (
        "a console script whose tool is not executable",
        "tools/actions/link/tool_test.py::test_a_console_script_whose_tool_may_not_be_executed_is_refused",
    ),
    (
        "a list of scripts or Python packages with duplicate names or missing paths",
        "tools/actions/link/tool_test.py::test_a_list_of_console_scripts_that_is_none_is_refused",
    ),
    (
        "no `import_name`, for a devel package, console scripts or Python packages",
        "tests/analysis/wheel_tests.bzl::_nameless_scripts_test",
    ),
    ("console scripts without `_cli.py`", "tests/analysis/wheel_tests.bzl::_bare_scripts_test"),
    ("a path of `files` or a `tree` that leads out of site-packages", "tests/analysis/package_tests.bzl::outside"),
    (
        "an `import_name` that leads out of site-packages",
        "lib/wheel/wheel_writer_test.py::test_members_lie_in_site_packages",
    ),
    (
        "a licence text whose name the metadata cannot contain",
        "tools/actions/link/license_texts_test.py::test_names_that_the_metadata_cannot_hold_are_left_in_the_tree",
    ),
    ("metadata that indexes refuse", "lib/wheel/metadata_checks_test.py::test_what_is_no_classifier"),
)


def lines() -> list[str]:
    """Return the first cells of all tables below the headline."""
    text = (WORKSPACE / PAGE).read_text(encoding="utf-8").partition(HEADLINE)[2].partition("\n## ")[0]
    rows = [line.split(" | ")[0].removeprefix("| ") for line in text.splitlines() if line.startswith("| ")]
    return [row for row in rows if row != "what"]


def test_every_line_has_a_test() -> None:
    assert lines() == [line for line, _ in SHOWN_BY]


def test_every_test_is_there() -> None:
    for line, test in SHOWN_BY:
        file, _, name = test.partition("::")
        text = (WORKSPACE / file).read_text(encoding="utf-8")
        words = f"def {name}(" if file.endswith(".py") else f'{name}"'
        assert words in text, f"{line}: {test}"
