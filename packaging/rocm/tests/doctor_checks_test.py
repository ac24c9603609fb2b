"""The checks of `rocm-sdk doctor` one by one, on made-up facts; `doctor_test.py` has whole machines."""

from __future__ import annotations

import grp
import json
import os
import pwd
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fake_sdk import distributions
from machines import Machine
from rocm_sdk.detect import Answer, Gpu
from rocm_sdk.devel import devel_root, find_layout
from rocm_sdk.distributions import PackageNames, parse_distributions
from rocm_sdk.doctor import Finding, examine, gpus, loading, other_rocm, packages
from rocm_sdk.doctor.facts import Facts
from rocm_sdk.doctor.loading import Loaded
from rocm_sdk.installation import InstalledPackage

SPLIT = parse_distributions(json.dumps(distributions("split")))


def facts(**fields: Any) -> Facts:
    """Return facts of a machine where nothing else is known."""
    return Facts(SPLIT, **fields)


def with_gpu(root: Path, source: str = "kfd", count: int = 1, **fields: Any) -> Facts:
    """Return facts of a machine with GPUs that a source told of."""
    found = (Gpu("gfx942", False, source),) * count
    return facts(root=root, answers=(Answer(source, found, ""),), **fields)


def test_a_library_may_print_when_it_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "run_python", lambda *_, **__: 'a banner\n[{"/a.so": "refused"}, ["/b.so"]]\n')
    assert loading.load([Path("/a.so"), Path("/b.so")], [], {}) == Loaded({Path("/a.so"): "refused"}, [Path("/b.so")])


def installed(*names: str, site: str = "/site", tree: str = "_tree") -> dict[str, InstalledPackage]:
    """Return packages as they are found, of which only names and places count."""
    return {name: InstalledPackage(PackageNames(name, "", tree), Path(site), Path("/site/x")) for name in names}


def touch(path: Path, mode: int = 0o644) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode)
    return path


# Packages.


def test_core_may_be_missing() -> None:
    (finding,) = packages.missing_core(facts())
    assert (finding.severity, finding.text) == ("problem", "rocm-sdk-core is not installed")
    assert finding.remedy == 'pip install "rocm-sdk-core==7.10.0.dev0"'
    assert not list(packages.missing_core(facts(packages=installed("rocm-sdk-core"))))


def test_versions_and_layouts_may_be_mixed(tmp_path: Path) -> None:
    for name in ("rocm-7.10.0.dev0", "rocm_sdk_core-7.9", "rocm_sdk_libraries_gfx94X_dcgpu-7.10.0.dev0", "rocmlir-1"):
        touch(tmp_path / f"{name}.dist-info/METADATA")
    found = packages.version_skew(facts(packages=installed("rocm-sdk-core", site=str(tmp_path))))
    assert [(finding.severity, finding.text, finding.remedy) for finding in found] == [
        (
            "problem",
            f"rocm is 7.10.0.dev0, but rocm-sdk-core is 7.9 (in {tmp_path})",
            'pip install "rocm-sdk-core==7.10.0.dev0"',
        ),
        (
            "warning",
            "rocm-sdk-libraries-gfx94x-dcgpu is not among the packages of rocm 7.10.0.dev0",
            "pip uninstall -y rocm-sdk-libraries-gfx94x-dcgpu",
        ),
    ]


def test_a_post_release_is_no_other_version(tmp_path: Path) -> None:
    touch(tmp_path / "rocm_sdk_device_gfx942-7.10.0.post1.dev0.dist-info/METADATA")
    assert not list(packages.version_skew(facts(packages=installed("rocm-sdk-core", site=str(tmp_path)))))


def test_packages_may_be_in_several_directories(tmp_path: Path) -> None:
    apart = {
        **installed("rocm-sdk-core", site=f"{tmp_path}/user"),
        **installed("rocm-sdk-libraries", site=f"{tmp_path}/system"),
    }
    (finding,) = packages.scattered(facts(packages=apart))
    assert finding.severity == "problem"
    assert f"rocm-sdk-libraries in {tmp_path}/system; rocm-sdk-core in {tmp_path}/user" in finding.text
    assert not list(packages.scattered(facts(packages=installed("rocm-sdk-core", "rocm-sdk-libraries"))))


# The development tree.


def test_a_tree_that_cannot_be_made(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    layout = find_layout(SPLIT)
    assert not list(packages.development_tree(facts(layout=layout)))
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write everywhere
    (finding,) = packages.development_tree(facts(layout=layout))
    assert finding.severity == "problem"
    assert "bin/hipcc is missing (10 such files in all)" in finding.text
    assert finding.text.endswith(f", and this user cannot write to {site}")
    assert finding.remedy.startswith("Run `rocm-sdk init` as a user who can, for example ")


def test_a_tree_with_a_second_copy_of_a_library(site: Path) -> None:
    library = devel_root() / "lib/libamdhip64.so.5"
    data = library.read_bytes()
    library.unlink()
    library.write_bytes(data)
    (finding,) = packages.development_tree(facts(layout=find_layout(SPLIT)))
    assert "lib/libamdhip64.so.5 is a second copy of _rocm_sdk_core/lib/libamdhip64.so.5" in finding.text
    assert finding.remedy == "rocm-sdk init"
    devel_root(verify=True)
    assert not list(packages.development_tree(facts(layout=find_layout(SPLIT))))


# GPUs.


def closing(*closed: str) -> Callable[[object, int], bool]:
    """Return a replacement of `os.access`, for root, that denies paths with these ends."""
    return lambda path, _: not str(path).endswith(closed)


@pytest.mark.parametrize(
    ("closed", "named"), [(("kfd",), "{0}/dev/kfd"), (("kfd", "renderD128"), "{0}/dev/kfd, {0}/dev/dri/renderD128")]
)
def test_devices_may_be_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, closed: tuple[str, ...], named: str
) -> None:
    machine = Machine.create(tmp_path, "gfx942")
    monkeypatch.setattr(os, "access", closing(*closed))
    (finding,) = gpus.closed_devices(with_gpu(machine.root))
    assert finding.text == f"{named.format(tmp_path)} cannot be opened by this user"
    group = (machine.root / "dev/kfd").stat().st_gid
    groups = grp.getgrgid(group).gr_name if group else "render,video"  # Root's own group opens no devices.
    assert finding.remedy == f"Run `sudo usermod -a -G {groups} $USER`, then log out and in again."


def test_one_open_gpu_of_several_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine.create(tmp_path, "gfx942", "gfx942")
    monkeypatch.setattr(os, "access", closing("renderD128"))
    assert not list(gpus.closed_devices(with_gpu(machine.root)))


@pytest.mark.parametrize(
    ("members", "remedy"),
    [
        ([], "Run `sudo usermod -a -G render $USER`, then log out and in again."),
        (["ada"], "You are in the group render, but were not when you logged in: log out and in again."),
        (None, "In a container: start it with --group-add 992."),
    ],
)
def test_the_devices_group_gives_access(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, members: list[str] | None, remedy: str
) -> None:
    machine = Machine.create(tmp_path, "gfx942")
    groups = [] if members is None else [SimpleNamespace(gr_name="render", gr_gid=992, gr_mem=members)]
    monkeypatch.setattr(os, "access", closing("kfd"))
    monkeypatch.setattr(grp, "getgrall", lambda: groups)
    monkeypatch.setattr(pwd, "getpwall", lambda: [SimpleNamespace(pw_name="ada", pw_uid=os.geteuid())])
    monkeypatch.setattr(Path, "stat", lambda *_, **__: SimpleNamespace(st_gid=992, st_mode=0o20660))
    (finding,) = gpus.closed_devices(with_gpu(machine.root))
    assert finding.remedy == remedy


def test_gpus_of_other_sources_have_other_devices(tmp_path: Path) -> None:
    """So it is in the Windows Subsystem for Linux."""
    assert not list(gpus.closed_devices(with_gpu(tmp_path, "offload-arch")))
    assert not list(gpus.absent(with_gpu(tmp_path, "offload-arch")))


def test_detection_may_be_off(tmp_path: Path) -> None:
    assert not list(gpus.absent(facts(root=tmp_path, environ={"ROCM_BOOTSTRAP_DISABLE_DETECTION": "1"})))


@pytest.mark.parametrize(
    ("environ", "hiding"),
    [
        ({}, ""),
        ({"HIP_VISIBLE_DEVICES": ""}, ""),
        ({"HIP_VISIBLE_DEVICES": "1,-1,0"}, ""),
        ({"HIP_VISIBLE_DEVICES": "-1,0"}, "HIP_VISIBLE_DEVICES"),
        ({"HIP_VISIBLE_DEVICES": "2"}, "HIP_VISIBLE_DEVICES"),
        ({"HIP_VISIBLE_DEVICES": "1", "ROCR_VISIBLE_DEVICES": "1"}, "HIP_VISIBLE_DEVICES"),
        ({"HIP_VISIBLE_DEVICES": "0", "CUDA_VISIBLE_DEVICES": "-1"}, ""),
        ({"CUDA_VISIBLE_DEVICES": "-1"}, "CUDA_VISIBLE_DEVICES"),
        ({"ROCR_VISIBLE_DEVICES": "GPU-87f0e1e3a1b2c3d4"}, ""),
        ({"ROCR_VISIBLE_DEVICES": "none"}, "ROCR_VISIBLE_DEVICES"),
    ],
)
def test_which_variables_hide_both_gpus(environ: Mapping[str, str], hiding: str) -> None:
    texts = [finding.text.partition("=")[0] for finding in gpus.hidden(with_gpu(Path(), count=2, environ=environ))]
    assert texts == ([hiding] if hiding else [])


# Libraries.

HIP = Path("/site/_tree/lib/libamdhip64.so.7")


@pytest.fixture
def libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let HIP be the only library that is installed."""
    monkeypatch.setattr(loading, "_public_libraries", lambda: [HIP])


def loads(here: Loaded, plain: Loaded) -> Callable[[Sequence[Path], Sequence[Path], Mapping[str, str]], Loaded]:
    """Return what loads libraries with the user's environment, which has `HERE`, and with a plain one."""
    return lambda _libraries, _directories, environ: here if "HERE" in environ else plain


OLD_SYSTEM = "/lib/libc.so.6: version `GLIBC_2.99' not found (required by /site/libhipfft.so.0)"
OLD_CXX = "/lib/libstdc++.so.6: version `GLIBCXX_3.4.99' not found (required by /site/libamdhip64.so.7)"
OTHER = Path("/site/_tree/lib/libhipfft.so.0")


@pytest.mark.parametrize(
    ("failures", "is_for_variables", "remedy"),
    [
        (
            {HIP: OLD_CXX},
            False,
            "The C++ library /lib/libstdc++.so.6 is too old (GLIBCXX_3.4.99 is missing). Update it: apt install ",
        ),
        (
            {HIP: OLD_CXX, OTHER: OLD_SYSTEM},  # A newer libstdc++ would not help.
            False,
            "These packages are for newer systems: the C library of this one is too old (GLIBC_2.99 is missing).",
        ),
        (
            {HIP: OLD_CXX},
            True,
            "It loads without LD_LIBRARY_PATH and LD_PRELOAD, which lead to /lib/libstdc++.so.6: unset them.",
        ),
        ({HIP: "libx.so: file too short"}, True, "It loads without LD_LIBRARY_PATH and LD_PRELOAD: unset them."),
        ({HIP: "libx.so: file too short"}, False, "`rocm-sdk test -k library:` shows all that does not load."),
    ],
)
@pytest.mark.usefixtures("libraries")
def test_the_system_may_be_too_old(failures: dict[Path, str], is_for_variables: bool, remedy: str) -> None:
    load = loads(Loaded(failures), Loaded({} if is_for_variables else failures))
    (finding,) = loading.libraries_here(facts(environ={"HERE": "1"}), load)
    assert (finding.severity, finding.text) == ("problem", f"{HIP} does not load: {failures[HIP]}")
    assert finding.remedy.startswith(remedy)


@pytest.mark.usefixtures("libraries")
def test_a_file_system_may_be_mounted_with_noexec(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "noexec", lambda path: f"noexec: {path}")
    words = {HIP: f"{HIP}: failed to map segment from shared object"}
    (finding,) = loading.libraries_here(facts(environ={"HERE": "1"}), loads(Loaded(words), Loaded(words)))
    assert finding.remedy == f"noexec: {HIP}"


@pytest.mark.usefixtures("libraries")
def test_one_hip_is_fine() -> None:
    sound = Loaded(runtimes=[HIP])
    here = facts(packages=installed("rocm-sdk-core"), environ={"HERE": "1"})
    assert not list(loading.libraries_here(here, loads(sound, Loaded())))


def test_libraries_may_be_hidden(tmp_path: Path) -> None:
    tree = tmp_path / "_rocm_sdk_core"
    for directory in (tree, tmp_path / "other"):
        for name in ("libamdhip64.so.7", "libhiprtc.so.7"):
            touch(directory / "lib" / name)
    touch(tmp_path / "harmless/libown.so")
    value = f"{tree}/lib:{tmp_path}/nowhere:{tmp_path}/harmless:{tmp_path}/other/lib"
    ours = installed("rocm-sdk-core", site=str(tmp_path), tree=tree.name)
    (finding,) = loading.shadowed_libraries(facts(packages=ours, environ={"LD_LIBRARY_PATH": value}))
    assert finding.severity == "problem"
    assert finding.text == (
        f"LD_LIBRARY_PATH has {tmp_path}/other/lib, whose libamdhip64.so.7, libhiprtc.so.7 (2 in all) hide ours"
    )
    assert finding.remedy == f"Take {tmp_path}/other/lib out of LD_LIBRARY_PATH."
    assert not list(loading.shadowed_libraries(facts(packages=ours)))


def test_opencl_drivers_that_are_gone(tmp_path: Path) -> None:
    (tmp_path / "here.so").touch()
    variables = {
        "OCL_ICD_FILENAMES": f"{tmp_path}/here.so:libbare.so:{tmp_path}/lib/libamdocl64.so",
        "OCL_ICD_VENDORS": f"{tmp_path}/vendors",
    }
    assert [(one.severity, one.text, one.remedy) for one in loading.opencl_drivers(facts(environ=variables))] == [
        (
            "problem",
            f"{name} names {tmp_path}/{path}, which is not there: OpenCL's loader does not find the driver",
            f'unset {name}, then eval "$(rocm-sdk env)"',
        )
        for name, path in (("OCL_ICD_FILENAMES", "lib/libamdocl64.so"), ("OCL_ICD_VENDORS", "vendors"))
    ]
    assert not list(loading.opencl_drivers(facts(environ={"OCL_ICD_FILENAMES": f"{tmp_path}/here.so"})))


# Another ROCm.


def test_a_second_rocm_on_the_machine(tmp_path: Path) -> None:
    (tmp_path / "opt/rocm-6.4.1/lib").mkdir(parents=True)
    (tmp_path / "opt/rocm").symlink_to("rocm-6.4.1")
    (tmp_path / "opt/rocket/lib").mkdir(parents=True)
    touch(tmp_path / "usr/lib/x86_64-linux-gnu/libamdhip64.so.5")
    (tmp_path / "usr/lib64").symlink_to("lib/x86_64-linux-gnu")
    texts = [finding.text for finding in other_rocm.other_roots(facts(root=tmp_path))]
    assert texts == [
        f"there is another ROCm: {tmp_path}/opt/rocm-6.4.1",
        f"there is another ROCm: {tmp_path}/usr/lib/x86_64-linux-gnu (libamdhip64.so.5)",
    ]
    assert not list(other_rocm.other_roots(facts(root=tmp_path / "nowhere")))


def test_variables_may_lead_elsewhere(tmp_path: Path) -> None:
    tree = tmp_path / "_rocm_sdk_devel"
    environ = {
        "ROCM_PATH": "/opt/rocm",
        "HIP_PATH": str(tree),
        "HIP_CLANG_PATH": f"{tree}/lib/llvm/bin",
        "HSA_PATH": "",
    }
    ours = installed("rocm-sdk-devel", site=str(tmp_path), tree=tree.name)
    (finding,) = other_rocm.other_variables(facts(packages=ours, environ=environ))
    assert finding.text == "ROCM_PATH is /opt/rocm, which is not the development tree of these packages"
    assert finding.remedy == 'Unset ROCM_PATH, or set it for these: eval "$(rocm-sdk env)"'


def test_programs_may_be_others(tmp_path: Path) -> None:
    other = touch(tmp_path / "opt/rocminfo", 0o755)
    own = touch(tmp_path / "_rocm_sdk_devel/bin/hipconfig", 0o755)
    path = f"{own.parent}:{other.parent}"
    ours = installed("rocm-sdk-devel", site=str(tmp_path), tree="_rocm_sdk_devel")
    (finding,) = other_rocm.other_programs(facts(packages=ours, environ={"PATH": path}))
    assert finding.text == f"there is another ROCm: {other}"
    assert finding.remedy.startswith("PATH has it as `rocminfo`.")
    assert not list(other_rocm.other_programs(facts(packages=ours, environ={"PATH": ""})))


def test_a_framework_may_bring_a_hip_of_its_own(tmp_path: Path) -> None:
    library = touch(tmp_path / "torch/lib/libamdhip64.so")
    touch(tmp_path / "_rocm_sdk_core/lib/libamdhip64.so.7")
    ours = installed("rocm-sdk-core", site=str(tmp_path), tree="_rocm_sdk_core")
    (finding,) = other_rocm.bundled_copies(facts(packages=ours, module_path=["", str(tmp_path)]))
    assert finding.text == f"there is another ROCm: {library}"


# The table.


def test_a_check_that_breaks_does_not_keep_the_others_from_being_done(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: Facts) -> Iterator[Finding]:
        raise ValueError("a bug")

    monkeypatch.setattr(examine, "CHECKS", (broken, packages.missing_core))
    monkeypatch.setattr(examine, "gather", lambda _: facts())
    monkeypatch.setattr(examine, "load_distributions", lambda: SPLIT)
    names = [finding.name for finding in examine.examine()]
    assert names == ["doctor", "core"]


def test_every_check_is_in_the_table() -> None:
    """A check that nobody lists finds nothing."""
    modules = (gpus, loading, other_rocm, packages)
    public = {
        function
        for module in modules
        for name, function in vars(module).items()
        if callable(function)
        and not name.startswith("_")
        and function.__module__ == module.__name__
        and function.__annotations__.get("return") == "Iterator[Finding]"
    }
    assert public == set(examine.CHECKS)
