"""What `rocm-sdk doctor` says in situations as users have them: real environments on planted machines."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from devel_mounts import in_own_mounts, make_read_only, mount_memory
from environments import Environment
from fake_sdk import FakeSdk, make_sdk, shared_library
from machines import Machine

from develop.testing.tiny_library import tiny_library

VERSION = "7.10.0.dev0"
TREE = "_rocm_sdk_devel"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Return a machine with the GPU that the packages are for."""
    return Machine.create(tmp_path / "machine", "gfx1100")


@pytest.fixture
def copy(shared_environment: Environment, environment: Environment, split_sdk: FakeSdk) -> Environment:
    """Return an environment with `rocm[device,devel]` and its tree, which the test may damage."""
    environment.install(split_sdk.index, "rocm[device,devel]")
    environment.rocm_sdk("init")
    return environment


def reinstall(environment: Environment, package: str) -> str:
    """Return the command that installs a package again, for the installer of the environment."""
    command = "uv pip install --reinstall" if environment.installer == "uv" else "pip install --force-reinstall"
    return f'{command} --no-deps "{package}=={VERSION}"'


# Healthy machines.


def test_a_workstation_has_no_findings(shared_environment: Environment, machine: Machine) -> None:
    assert machine.doctor(shared_environment) == []


def test_a_server_with_eight_gpus_has_no_findings(environment: Environment, split_sdk: FakeSdk, tmp_path: Path) -> None:
    server = Machine.create(tmp_path / "machine", *["gfx942"] * 8)
    environment.install(split_sdk.index, "rocm[libraries,device-gfx942]", ROCM_SDK_TARGET_FAMILY="gfx942")
    assert server.doctor(environment, HIP_VISIBLE_DEVICES="3,5") == []


def test_a_laptop_before_the_tree_is_made_has_no_findings(
    environment: Environment, split_sdk: FakeSdk, tmp_path: Path
) -> None:
    """It has a build of PyTorch for no GPU at all."""
    laptop = Machine.create(tmp_path / "machine", "gfx1100")
    environment.install(split_sdk.index, "rocm[device,devel]")
    torch = environment.site / "torch"
    (torch / "lib").mkdir(parents=True)
    (torch / "__init__.py").touch()
    (torch / "lib/libtorch_cpu.so").write_bytes(tiny_library("libtorch_cpu.so", ("libc.so.6",)))
    assert laptop.doctor(environment) == []
    assert not (environment.site / TREE / "bin/hipcc").exists()  # Looking changes nothing.


def test_a_machine_of_a_ci_has_no_problems(shared_environment: Environment, tmp_path: Path) -> None:
    machine = Machine.without_gpu(tmp_path / "machine")
    (finding,) = machine.doctor(shared_environment)
    assert finding == (
        "note: gpu: this machine has no AMD GPU, or no kernel driver for it: there is no "
        f"{machine.root}/sys/class/kfd/kfd/topology/nodes | To build and install, none is needed. To use one: in a "
        "container, start it with --device=/dev/kfd --device=/dev/dri."
    )


# The machine.


def test_a_device_without_sys(shared_environment: Environment, tmp_path: Path) -> None:
    machine = Machine(tmp_path / "machine")
    machine.write("dev/kfd", "")
    (finding,) = machine.doctor(shared_environment)
    assert finding == (
        f"problem: gpu: {machine.root}/dev/kfd is there, but not {machine.root}/sys/class/kfd/kfd/topology/nodes, "
        "where the HIP runtime finds its GPUs | Mount sysfs at /sys. In a container, mount the host's: docker "
        "run -v /sys:/sys:ro"
    )


def test_a_gpu_without_its_driver(shared_environment: Environment, machine: Machine) -> None:
    shutil.rmtree(machine.root / "sys/class/kfd")
    shutil.rmtree(machine.root / "dev")
    (finding,) = machine.doctor(shared_environment)
    assert finding.startswith("warning: gpu: the kernel driver does not offer the AMD GPU at PCI 0000:01:00.0 to ROCm")
    assert " | Run `sudo modprobe amdgpu`. " in finding


def test_a_container_without_devices(shared_environment: Environment, tmp_path: Path) -> None:
    machine = Machine.create(tmp_path / "machine", "gfx1100", devices=False)
    remedy = "In a container, start it with --device=/dev/kfd --device=/dev/dri."
    (finding,) = machine.doctor(shared_environment)
    assert finding == (
        f"problem: access: the kernel driver shows GPUs, but there is no {machine.root}/dev/kfd and no "
        f"{machine.root}/dev/dri | {remedy}"
    )
    machine.write("dev/kfd", "")
    (finding,) = machine.doctor(shared_environment)
    assert finding == (
        f"problem: access: the kernel driver shows GPUs, but there is no {machine.root}/dev/dri | {remedy}"
    )


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("HIP_VISIBLE_DEVICES", "-1"),
        ("HIP_VISIBLE_DEVICES", "1"),
        ("CUDA_VISIBLE_DEVICES", "-1"),
        ("ROCR_VISIBLE_DEVICES", ""),
    ],
)
def test_variables_that_hide_the_gpu(
    shared_environment: Environment, machine: Machine, variable: str, value: str
) -> None:
    (finding,) = machine.doctor(shared_environment, **{variable: value})
    assert finding == (f"warning: hidden: {variable}={value} hides all GPUs from programs | unset {variable}")


# Variables.


@pytest.mark.parametrize("variable", ["ROCM_SDK_TARGET_FAMILY", "ROCM_BOOTSTRAP_FORCE_GFX_ARCH"])
def test_a_variable_that_asks_for_no_gpu_does_not_stop_the_others(
    shared_environment: Environment, machine: Machine, variable: str
) -> None:
    first, second = machine.doctor(shared_environment, OCL_ICD_FILENAMES="/nosuch.so", **{variable: "gtx1080"})
    assert first.startswith(f"problem: target: {variable}=gtx1080: ")
    assert first.endswith(f" | unset {variable}")
    assert second.startswith("problem: opencl: ")
    report = json.loads(shared_environment.rocm_sdk("doctor", "--json", check=False, **{variable: "gtx1080"}))
    assert report["findings"][0]["remedy"] == f"unset {variable}"


# The packages.


def test_a_kernel_file_is_gone(copy: Environment, machine: Machine) -> None:
    gone = "_rocm_sdk_libraries/lib/rocblas/library/Kernels_gfx1100.co"
    (copy.site / gone).unlink()
    devel, files = sorted(machine.doctor(copy))
    assert devel.startswith(f"problem: devel: {copy.site}/{gone} is missing, which the development tree links to. ")
    assert files == (
        f"problem: files: rocm-sdk-device-gfx1100: in {copy.site}, {gone} is missing | "
        f"{reinstall(copy, 'rocm-sdk-device-gfx1100')}"
    )


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("#!/nowhere\n", "hipcc --version: the process ended with status 1, saying: FileNotFoundError: "),
        ("#!/bin/sh\nexit 1", "hipcc --version: the process ended with status 1. "),
    ],
)
def test_a_compiler_that_cannot_start(
    environment: Environment, split_sdk: FakeSdk, machine: Machine, script: str, said: str
) -> None:
    environment.install(split_sdk.index, "rocm[device]")
    hipcc = environment.site / "_rocm_sdk_core/bin/hipcc"
    hipcc.write_text(f"{script}\n".ljust(hipcc.stat().st_size))
    (finding,) = machine.doctor(environment)
    assert finding.startswith("problem: compiler: ")
    assert said in finding
    assert finding.endswith(" | `rocm-sdk test -k script:` shows all programs that do not start.")


@pytest.mark.parametrize("installer", ["pip", "uv"])
def test_what_is_half_removed_is_installed_again(
    installer: str, split_sdk: FakeSdk, machine: Machine, tmp_path: Path
) -> None:
    """Installers say `Requirement already satisfied`. The rest of it is no other ROCm."""
    environment = Environment.create(tmp_path / "venv", installer)
    environment.install(split_sdk.index, "rocm[device,devel]")
    for name in ("core", "devel"):
        shutil.rmtree(environment.site / f"rocm_sdk_{name}")
    for name in ("core", "devel"):
        metadata = environment.site / f"rocm_sdk_{name}-{VERSION}.dist-info"
        expected = (
            f"problem: files: rocm-sdk-{name} is half removed: {metadata} is there, but not "
            f"{environment.site}/rocm_sdk_{name} | {reinstall(environment, f'rocm-sdk-{name}')}"
        )
        assert expected in machine.doctor(environment)
    assert not [line for line in machine.doctor(environment) if "another ROCm" in line]
    for name in ("core", "devel"):
        option = "--reinstall" if installer == "uv" else "--force-reinstall"
        environment.install(split_sdk.index, option, "--no-deps", f"rocm-sdk-{name}=={VERSION}")
    assert machine.doctor(environment) == []


# The development tree.


def test_a_tree_that_was_deleted(copy: Environment, machine: Machine) -> None:
    shutil.rmtree(copy.site / TREE)
    findings = machine.doctor(copy)
    assert any(f"{TREE}/bin/hipcc is missing" in one for one in findings)
    assert [one for one in findings if one.endswith(reinstall(copy, "rocm-sdk-devel"))]


def test_a_tree_with_a_missing_link(copy: Environment, machine: Machine) -> None:
    (copy.site / TREE / "bin/hipcc").unlink()
    (finding,) = machine.doctor(copy)
    assert finding == f"problem: devel: in the development tree, {TREE}/bin/hipcc is missing | rocm-sdk init"
    copy.rocm_sdk("init")
    assert machine.doctor(copy) == []


def test_a_tree_whose_glue_was_deleted(copy: Environment, machine: Machine) -> None:
    shutil.rmtree(copy.site / "rocm_sdk_devel")
    (finding,) = machine.doctor(copy)
    assert finding.startswith("problem: files: rocm-sdk-devel is half removed: ")
    assert finding.endswith(reinstall(copy, "rocm-sdk-devel"))


def test_a_tree_where_nothing_can_be_written(environment: Environment, split_sdk: FakeSdk, machine: Machine) -> None:
    environment.install(split_sdk.index, "rocm[device,devel]")

    def check() -> None:
        mount_memory(environment.site, size=16 * 1000 * 1000)
        make_read_only(environment.site)
        (finding,) = machine.doctor(environment)
        assert finding.startswith("problem: devel: in the development tree, ")
        assert f"and this user cannot write to {environment.site} | Run `rocm-sdk init` as a user who can" in finding
        make_read_only(environment.site, read_only=False)
        environment.rocm_sdk("init")
        make_read_only(environment.site)
        assert machine.doctor(environment) == []

    in_own_mounts(check)


# Libraries.


def test_a_second_hip_is_loaded(shared_environment: Environment, machine: Machine, tmp_path: Path) -> None:
    other = tmp_path / "other/libamdhip64.so.5"
    other.parent.mkdir()
    other.write_bytes(shared_library())
    ours = shared_environment.site / "_rocm_sdk_core/lib/libamdhip64.so.5"
    (finding,) = machine.doctor(shared_environment, LD_PRELOAD=str(other))
    assert finding == (
        f"problem: loaded: every Python process here loads a second HIP, {other} beside {ours} | Find out what loads "
        f"it: LD_PRELOAD={other}, LD_LIBRARY_PATH, or a .pth file or sitecustomize.py in site-packages."
    )


def test_a_library_that_does_not_load(environment: Environment, split_sdk: FakeSdk, machine: Machine) -> None:
    """Of all public libraries, not of HIP alone."""
    environment.install(split_sdk.index, "rocm[device]")
    library = environment.site / "_rocm_sdk_libraries/lib/libhipblas.so.2"
    library.write_bytes(tiny_library("libhipblas.so.2", ("libnosuch.so.1",)).ljust(library.stat().st_size, b"\0"))
    (finding,) = machine.doctor(environment)
    assert finding == (
        f"problem: loader: {library} does not load: libnosuch.so.1: cannot open shared object file: No such file or "
        "directory | `rocm-sdk test -k library:` shows all that does not load."
    )


# Frameworks and other ROCms.


@pytest.mark.parametrize(
    ("name", "library", "needed"),
    [("torch", "lib/libtorch_cuda.so", "libcudart.so.12"), ("vllm", "_C.abi3.so", "libtorch_cuda.so")],
)
def test_builds_for_cuda(
    environment: Environment, split_sdk: FakeSdk, machine: Machine, name: str, library: str, needed: str
) -> None:
    environment.install(split_sdk.index, "rocm[device]")
    file = environment.site / name / library
    file.parent.mkdir(parents=True)
    (environment.site / name / "__init__.py").touch()
    file.write_bytes(tiny_library(file.name, (needed,)))
    (finding,) = machine.doctor(environment)
    assert finding.startswith(
        f"warning: framework: {name} in {environment.site}/{name} is a build for CUDA, which does not use AMD's GPUs "
        f"({library} needs it) | Replace it with the build for ROCm: https://"
    )
    file.write_bytes(tiny_library(file.name, ("libamdhip64.so.5",)))
    (environment.site / "amdsmi").mkdir()
    (environment.site / "amdsmi/__init__.py").touch()
    assert machine.doctor(environment) == []


def test_what_frameworks_import(environment: Environment, split_sdk: FakeSdk, machine: Machine) -> None:
    """A directory of a `.pth` file is as good as site-packages."""
    environment.install(split_sdk.index, "rocm[device]")
    modules = environment.site / "_rocm_sdk_core/share/amd_smi"
    for package in (environment.site / "vllm", modules / "amdsmi"):
        package.mkdir(parents=True)
        (package / "__init__.py").touch()
    (finding,) = machine.doctor(environment)
    install = "uv pip install" if environment.installer == "uv" else "pip install"
    assert finding == (
        f"warning: framework: vllm in {environment.site}/vllm imports amdsmi, which is in no directory of the module "
        f'search path | Install that of ROCm {VERSION}: {install} "amdsmi"'
    )
    (environment.site / "rocm_sdk_core.pth").write_text("_rocm_sdk_core/share/amd_smi\n")
    assert machine.doctor(environment) == []


@pytest.mark.parametrize("directory", ["venv", "long" * 40])
def test_scripts_that_no_record_lists_are_no_other_rocm(
    split_sdk: FakeSdk, machine: Machine, tmp_path: Path, directory: str
) -> None:
    """So rpm installs them. In scripts, a long path is not behind `#!`."""
    environment = Environment.create(tmp_path / directory, installer="pip")
    environment.install(split_sdk.index, "rocm")
    (environment.site / f"rocm_sdk_core-{VERSION}.dist-info/RECORD").unlink()
    assert machine.doctor(environment) == []


def test_a_sick_installation_is_described(environment: Environment, split_sdk: FakeSdk, tmp_path: Path) -> None:
    environment.install(split_sdk.index, "rocm[device]")
    older = make_sdk(tmp_path / "older", layout="split", version="7.9.0")
    environment.install(older.index, "--no-deps", "rocm-sdk-core==7.9.0")
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "libhipblas.so.2").write_bytes(shared_library())
    report = environment.rocm_sdk(
        "doctor",
        check=False,
        LD_LIBRARY_PATH=str(hidden),
        ROCM_PATH="/opt/rocm",
        PATH="/usr/bin:/bin",
        ROCM_BOOTSTRAP_FORCE_GFX_ARCH="gfx1100",
    )
    install = "uv pip install" if environment.installer == "uv" else "pip install"
    assert report == (
        f"problem: versions: rocm is 7.10.0.dev0, but rocm-sdk-core is 7.9.0 (in {environment.site})\n"
        f'    {install} "rocm-sdk-core==7.10.0.dev0"\n'
        f"problem: shadowed: LD_LIBRARY_PATH has {hidden}, whose libhipblas.so.2 (1 in all) hide ours\n"
        f"    Take {hidden} out of LD_LIBRARY_PATH.\n"
        "warning: variable: ROCM_PATH is /opt/rocm, which is not the development tree of these packages\n"
        '    Unset ROCM_PATH, or set it for these: eval "$(rocm-sdk env)"\n'
        "2 problems, 1 warning\n"
    )
