"""Tests of what is collected: from plans and facts to needs."""

import json
from pathlib import Path

import pytest

from develop.testing.artifacts import file, image, library, link, plan, program
from lib.elf.constants import EM_AARCH64, EM_X86_64
from lib.pe.constants import IMAGE_FILE_MACHINE_AMD64, IMAGE_FILE_MACHINE_ARM64
from lib.plan.model import Definition, Found, Plan
from tools.actions.platform_tag.needs import LinkedFacts, Need, collect, has_linked, library_paths, read_linked

CORE = Definition("core", "runtime", "_core", exclude=("share/**",), rpath=("_core/lib",))
FOUND = (
    program("bin/tool"),
    link("bin/other", "tool"),
    library("lib/liba.so.1", "liba.so.1"),
    link("lib/liba.so", "liba.so.1"),
    library("lib/libplugin.so"),
    library("share/libdropped.so.1", "libdropped.so.1"),
    file("lib/data"),
)
GLIBC = {"libc.so.6": ("GLIBC_2.2.5", "GLIBC_2.34")}


def made(definition: Definition, *found: Found) -> Plan:
    """Plan a package that builds on core."""
    return plan(definition, *found, builds_on=(core(),))


def core(*found: Found) -> Plan:
    return plan(CORE, *(found or FOUND))


def sources(**by_name: LinkedFacts) -> dict[str, LinkedFacts]:
    """Return facts by source, for files named by their last part."""
    named = {"tool": "bin/tool", "a": "lib/liba.so.1", "plugin": "lib/libplugin.so", "dropped": "share/libdropped.so.1"}
    return {f"core_lib_generic/stage/{named[name]}": linked for name, linked in by_name.items()}


def test_each_thing_once_by_the_first_file() -> None:
    linked = sources(
        tool=LinkedFacts(EM_X86_64, ("libc.so.6",), GLIBC), a=LinkedFacts(EM_X86_64, ("libc.so.6",), GLIBC)
    )
    needs = collect(core(), [], linked, EM_X86_64, ())
    assert needs.files == 2
    assert needs.system == (
        Need("libc.so.6", None, "bin/tool"),
        Need("libc.so.6", "GLIBC_2.2.5", "bin/tool"),
        Need("libc.so.6", "GLIBC_2.34", "bin/tool"),
    )
    assert (needs.packaged, needs.external, needs.foreign) == ((), (), ())


def test_what_is_not_packed_needs_nothing() -> None:
    needs = collect(core(), [], sources(dropped=LinkedFacts(EM_X86_64, ("libnuma.so.1",))), EM_X86_64, ())
    assert (needs.files, needs.system) == (0, ())
    assert not has_linked(core(), sources(dropped=LinkedFacts(EM_X86_64, ("libnuma.so.1",))))


def test_a_launcher_is_not_its_target() -> None:
    """Its source is the link's; a forwarder's is the library that it forwards to, which counts once."""
    needs = collect(core(), [], sources(a=LinkedFacts(EM_X86_64, ("libc.so.6",))), EM_X86_64, ())
    assert needs.files == 1


def test_libraries_of_the_package_and_of_those_it_builds_on_are_no_need_of_the_system() -> None:
    """By file name, as the loader looks; also by the name of a forwarder, and whatever versions are needed."""
    versions = {"liba.so.1": ("A_9",)}
    linked = {
        "l_lib_generic/stage/lib/libl.so": LinkedFacts(EM_X86_64, ("liba.so.1", "liba.so", "libplugin.so"), versions)
    }
    libraries = Definition("l", "runtime", "_l", rpath=("_l/lib", "_core/lib"))
    needs = collect(made(libraries, library("lib/libl.so")), [core()], linked, EM_X86_64, ())
    assert needs.system == ()
    assert [(need.library, need.version) for need in needs.packaged] == [
        ("liba.so", None),
        ("liba.so.1", None),
        ("liba.so.1", "A_9"),
        ("libplugin.so", None),
    ]


@pytest.mark.parametrize(
    ("own", "rpath", "reached"),
    [
        ((), (), False),
        ((), ("_l/lib",), False),
        ((), ("_l/lib", "_core/lib"), True),
        (("${ORIGIN}/../../_core/lib/.",), (), True),
        (("/opt/core/lib", "_core/lib", "$ORIGIN/../_core/lib"), (), False),
    ],
)
def test_a_library_counts_where_the_file_looks_for_it(
    own: tuple[str, ...], rpath: tuple[str, ...], reached: bool
) -> None:
    """Else the loader takes the system's, or none. The file's own entries count as the plan leaves them."""
    source = "l_lib_generic/stage/lib/libl.so"
    linked = {source: LinkedFacts(EM_X86_64, ("liba.so.1",), {"liba.so.1": ("A_9",)}, searched=own)}
    libraries = made(Definition("l", "runtime", "_l", rpath=rpath), library("lib/libl.so", rpath=own))
    needs = collect(libraries, [core()], linked, EM_X86_64, ())
    expected = (Need("liba.so.1", None, "lib/libl.so"), Need("liba.so.1", "A_9", "lib/libl.so"))
    assert (needs.packaged, needs.unreached) == ((expected, ()) if reached else ((), expected))
    assert needs.system == ()
    assert bool(collect(libraries, [core()], linked, EM_X86_64, ("liba.*",)).external) != reached


def test_a_devel_tree_has_links_to_the_libraries_of_all_packages() -> None:
    linked = {"d_lib_generic/stage/bin/test": LinkedFacts(EM_X86_64, ("liba.so.1",))}
    devel = made(
        Definition("d", "devel", "_devel", rpath=("_devel/lib",), allow_unmatched=("_devel/lib",)), program("bin/test")
    )
    assert collect(devel, [core()], linked, EM_X86_64, (), is_devel=True).unreached == ()


def test_a_library_that_is_left_out_is_the_systems_matter() -> None:
    assert library_paths([core()]) == {"_core/lib/liba.so", "_core/lib/liba.so.1", "_core/lib/libplugin.so"}
    needs = collect(core(), [], sources(tool=LinkedFacts(EM_X86_64, ("libdropped.so.1",))), EM_X86_64, ())
    assert [need.library for need in needs.system] == ["libdropped.so.1"]


def test_devel_has_libraries_as_links() -> None:
    devel = plan(Definition("core", "devel", "_devel"), *FOUND)
    assert library_paths([devel]) >= {"_devel/lib/liba.so", "_devel/lib/liba.so.1"}


def test_externals_are_patterns() -> None:
    wanted = ("libnuma.so.1", "libpython3.11.so.1.0", "libother.so.1")
    linked = sources(tool=LinkedFacts(EM_X86_64, wanted, {"libnuma.so.1": ("libnuma_1.1",)}))
    needs = collect(core(), [], linked, EM_X86_64, ("libnuma.so.1", "libpython3.*"))
    assert [need.library for need in needs.system] == ["libother.so.1"]
    assert needs.external == (
        Need("libnuma.so.1", None, "bin/tool"),
        Need("libnuma.so.1", "libnuma_1.1", "bin/tool"),
        Need("libpython3.11.so.1.0", None, "bin/tool"),
    )


def test_what_a_package_has_is_not_external_though_declared() -> None:
    needs = collect(core(), [], sources(tool=LinkedFacts(EM_X86_64, ("liba.so.1",))), EM_X86_64, ("lib*",))
    assert (len(needs.packaged), needs.external) == (1, ())


def test_files_of_another_architecture_are_named_and_do_not_count() -> None:
    linked = sources(tool=LinkedFacts(EM_X86_64), a=LinkedFacts(EM_AARCH64, ("libold.so.1",)))
    needs = collect(core(), [], linked, EM_X86_64, ())
    assert (needs.files, needs.system, needs.foreign) == (1, (), ("lib/liba.so.1",))


def test_facts_of_programs_and_libraries_are_read(tmp_path: Path) -> None:
    files = {
        "a/stage/lib/liba.so": {
            "type": "elf-library",
            "machine": 62,
            "needed": ["libc.so.6"],
            "rpath": ["$ORIGIN/x"],
            "runpath": ["$ORIGIN"],
            "versions_needed": {"libc.so.6": ["GLIBC_2.17"]},
        },
        "a/stage/bin/static": {"type": "elf-program", "machine": 62, "refusal": "static"},
        "a/stage/lib/x.o": {"type": "elf-object", "machine": 62},
        "a/stage/k.co": {"type": "gpu-code-object", "machine": 224, "needed": ["none"]},
        "a/stage/README": {"type": "data"},
    }
    path = tmp_path / "facts.json"
    path.write_text(json.dumps({"artifact": "a", "unit": "a/small", "files": files}))
    assert read_linked([str(path)]) == {
        "a/stage/lib/liba.so": LinkedFacts(62, ("libc.so.6",), {"libc.so.6": ("GLIBC_2.17",)}, ("$ORIGIN",)),
        "a/stage/bin/static": LinkedFacts(62),
    }


def test_dlls_are_found_in_every_package_by_names_without_case() -> None:
    core_of_windows = plan(Definition("core", "runtime", "_core", platform="windows"), image("bin/AMDHIP64_7.dll"))
    libraries = plan(
        Definition("l", "runtime", "_l", platform="windows"),
        image("bin/rocblas.dll"),
        image("bin/arm.dll"),
        builds_on=(core_of_windows,),
    )
    needed = ("amdhip64_7.dll", "kernel32.dll", "msvcp140.dll")
    linked = {
        "l_lib_generic/stage/bin/rocblas.dll": LinkedFacts(IMAGE_FILE_MACHINE_AMD64, needed),
        "l_lib_generic/stage/bin/arm.dll": LinkedFacts(IMAGE_FILE_MACHINE_ARM64, needed),
    }
    needs = collect(libraries, [core_of_windows], linked, IMAGE_FILE_MACHINE_AMD64, ("msvcp140*.dll",))
    assert [need.library for need in needs.packaged] == ["amdhip64_7.dll"]
    assert [need.library for need in needs.system] == ["kernel32.dll"]
    assert [need.library for need in needs.external] == ["msvcp140.dll"]
    assert (needs.files, needs.foreign) == (1, ("bin/arm.dll",))


def test_programs_for_windows_find_dlls_beside_them() -> None:
    found = plan(
        Definition("core", "runtime", "_core", platform="windows"),
        image("bin/beside.exe", "pe-program"),
        image("bin/amdhip64_7.dll"),
        image("lib/llvm/bin/away.exe", "pe-program"),
        image("Tools/beside.exe", "pe-program"),
        image("Tools/AMDHIP64_7.dll"),
    )
    linked = {
        f"core_lib_generic/stage/{path}": LinkedFacts(IMAGE_FILE_MACHINE_AMD64, ("amdhip64_7.dll",))
        for path in ("bin/beside.exe", "lib/llvm/bin/away.exe", "Tools/beside.exe")
    }
    needs = collect(found, [], linked, IMAGE_FILE_MACHINE_AMD64, ())
    assert [need.path for need in needs.packaged] == ["Tools/beside.exe"]  # the first by path stands for all
    assert [need.path for need in needs.unreached] == ["lib/llvm/bin/away.exe"]


def test_dlls_in_a_package_for_linux_are_data() -> None:
    found = plan(Definition("l", "runtime", "_l"), file("bin/tool.dll"))
    linked = {"l_lib_generic/stage/bin/tool.dll": LinkedFacts(IMAGE_FILE_MACHINE_AMD64, ("x.dll",))}
    assert not has_linked(found, linked)


def test_what_a_dll_needs_late_is_needed(tmp_path: Path) -> None:
    path = tmp_path / "facts.json"
    facts = {"type": "pe-library", "machine": 1, "needed": ["a.dll"], "needed_late": ["b.dll"]}
    path.write_text(json.dumps({"files": {"x": facts}}))
    assert list(read_linked([str(path)])["x"].wanted()) == [("a.dll", None), ("b.dll", None)]
