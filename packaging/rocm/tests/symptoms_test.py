"""What `rocm-sdk doctor` finds on made-up machines, and what it says to do."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from environments import Environment
from fake_sdk import FakeSdk, distributions, make_sdk, shared_library
from rocm_sdk import symptoms
from rocm_sdk.detect import Gpu
from rocm_sdk.distributions import PackageNames, parse_distributions
from rocm_sdk.installation import InstalledPackage

SPLIT = parse_distributions(json.dumps(distributions("split")))
DISCRETE = Gpu("gfx942", False, "kfd")


def installed(*names: str) -> dict[str, InstalledPackage]:
    """Return packages as they are found, of which only the names count."""
    return {name: InstalledPackage(PackageNames(name, "", "_tree"), Path("/site"), Path("/site/x")) for name in names}


def touch(path: Path, mode: int = 0o644) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode)
    return path


def test_core_may_be_missing() -> None:
    (finding,) = symptoms.missing_core(SPLIT, {})
    assert (finding.severity, finding.text) == ("problem", "rocm-sdk-core is not installed")
    assert finding.remedy == 'pip install "rocm-sdk-core==7.10.0.dev0"'
    assert not list(symptoms.missing_core(SPLIT, installed("rocm-sdk-core")))


def test_versions_and_layouts_may_be_mixed(tmp_path: Path) -> None:
    for name in ("rocm-7.10.0.dev0", "rocm_sdk_core-7.9", "rocm_sdk_libraries_gfx94X_dcgpu-7.10.0.dev0", "rocmlir-1"):
        touch(tmp_path / f"{name}.dist-info/METADATA")
    assert [
        (finding.severity, finding.text, finding.remedy) for finding in symptoms.version_skew(SPLIT, [tmp_path])
    ] == [
        (
            "problem",
            f"rocm is 7.10.0.dev0, but rocm-sdk-core is 7.9 (in {tmp_path})",
            'pip install "rocm-sdk-core==7.10.0.dev0"',
        ),
        (
            "warning",
            "rocm-sdk-libraries-gfx94x-dcgpu is not among the packages of rocm 7.10.0.dev0",
            "pip uninstall rocm-sdk-libraries-gfx94x-dcgpu",
        ),
    ]


def test_the_device_may_be_missing_in_a_container(tmp_path: Path) -> None:
    (finding,) = symptoms.closed_device(tmp_path, [DISCRETE])
    assert finding.text == f"the kernel driver shows GPUs, but there is no {tmp_path}/dev/kfd"
    assert not list(symptoms.closed_device(tmp_path, [Gpu("gfx942", False, "offload-arch")]))
    touch(tmp_path / "dev/kfd")
    assert not list(symptoms.closed_device(tmp_path, [DISCRETE]))


def test_the_device_may_be_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    touch(tmp_path / "dev/kfd")
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may open everything
    (finding,) = symptoms.closed_device(tmp_path, [DISCRETE])
    assert finding.text == f"{tmp_path}/dev/kfd cannot be opened by this user"
    assert finding.remedy == "sudo usermod -a -G render,video $USER"


def test_libraries_may_be_hidden(tmp_path: Path) -> None:
    tree = tmp_path / "_rocm_sdk_core"
    for directory in (tree, tmp_path / "other"):
        for name in ("libamdhip64.so.7", "libhiprtc.so.7"):
            touch(directory / "lib" / name)
    touch(tmp_path / "harmless/libown.so")
    value = f":{tree}/lib:{tmp_path}/nowhere:{tmp_path}/harmless:{tmp_path}/other/lib"
    (finding,) = symptoms.shadowed_libraries({"LD_LIBRARY_PATH": value}, [tree])
    assert finding.severity == "problem"
    assert finding.text == (
        f"LD_LIBRARY_PATH has {tmp_path}/other/lib, whose libamdhip64.so.7, libhiprtc.so.7 (2 in all) hide ours"
    )
    assert finding.remedy == f"Take {tmp_path}/other/lib out of LD_LIBRARY_PATH."
    assert not list(symptoms.shadowed_libraries({}, [tree]))


def test_preloads_may_be_unknown() -> None:
    (finding,) = symptoms.unknown_preloads({"ROCM_SDK_PRELOAD_LIBRARIES": "amdhip64, nosuch;other"})
    assert finding.text == "ROCM_SDK_PRELOAD_LIBRARIES names unknown libraries: nosuch, other"
    assert not list(symptoms.unknown_preloads({"ROCM_SDK_PRELOAD_LIBRARIES": "hipblas"}))


def test_a_second_rocm_on_the_machine(tmp_path: Path) -> None:
    (tmp_path / "opt/rocm-6.4.1/lib").mkdir(parents=True)
    (tmp_path / "opt/rocm").symlink_to("rocm-6.4.1")
    (tmp_path / "opt/rocket/lib").mkdir(parents=True)
    touch(tmp_path / "usr/lib/x86_64-linux-gnu/libamdhip64.so.5")
    (tmp_path / "usr/lib64").symlink_to("lib/x86_64-linux-gnu")
    texts = [finding.text for finding in symptoms.other_roots(tmp_path, [])]
    assert texts == [
        f"there is another ROCm: {tmp_path}/opt/rocm-6.4.1",
        f"there is another ROCm: {tmp_path}/usr/lib/x86_64-linux-gnu (libamdhip64.so.5)",
    ]
    assert not list(symptoms.other_roots(tmp_path / "nowhere", []))


def test_variables_may_lead_elsewhere(tmp_path: Path) -> None:
    tree = tmp_path / "_rocm_sdk_devel"
    environ = {
        "ROCM_PATH": "/opt/rocm",
        "HIP_PATH": str(tree),
        "HIP_CLANG_PATH": f"{tree}/lib/llvm/bin",
        "HSA_PATH": "",
    }
    (finding,) = symptoms.other_variables(environ, [tree])
    assert finding.text == "ROCM_PATH is /opt/rocm, which is not the development tree of these packages"
    assert finding.remedy == 'Unset ROCM_PATH, or set it for these: eval "$(rocm-sdk env)"'


def test_programs_may_be_others(tmp_path: Path) -> None:
    ours, other = touch(tmp_path / "venv/bin/hipcc", 0o755), touch(tmp_path / "opt/rocminfo", 0o755)
    own = touch(tmp_path / "_rocm_sdk_devel/bin/hipconfig", 0o755)
    path = f"{ours.parent}:{other.parent}:{own.parent}"
    (finding,) = symptoms.other_programs(path, [ours], [tmp_path / "_rocm_sdk_devel"])
    assert finding.text == f"there is another ROCm: {other}"
    assert finding.remedy.startswith("PATH has it as `rocminfo`.")
    assert not list(symptoms.other_programs("", [ours], []))


def test_a_sound_installation_has_no_findings(shared_environment: Environment) -> None:
    path = f"{shared_environment.root}/bin:/usr/bin:/bin"
    assert shared_environment.rocm_sdk("doctor", PATH=path) == "0 problems, 0 warnings\n"
    assert json.loads(shared_environment.rocm_sdk("doctor", "--json", PATH=path))["findings"] == []


def test_a_sick_installation_is_described(environment: Environment, split_sdk: FakeSdk, tmp_path: Path) -> None:
    environment.install(split_sdk.index, "rocm[device]")
    older = make_sdk(tmp_path / "older", layout="split", version="7.9.0")
    environment.install(older.index, "--no-deps", "rocm-sdk-core==7.9.0")
    hidden = tmp_path / "hidden"
    touch(hidden / "libhipblas.so.2").write_bytes(shared_library())
    report = environment.rocm_sdk(
        "doctor", check=False, LD_LIBRARY_PATH=str(hidden), ROCM_PATH="/opt/rocm", PATH="/usr/bin:/bin"
    )
    assert report == (
        f"problem: versions: rocm is 7.10.0.dev0, but rocm-sdk-core is 7.9.0 (in {environment.site})\n"
        '    pip install "rocm-sdk-core==7.10.0.dev0"\n'
        f"problem: shadowed: LD_LIBRARY_PATH has {hidden}, whose libhipblas.so.2 (1 in all) hide ours\n"
        f"    Take {hidden} out of LD_LIBRARY_PATH.\n"
        "warning: variable: ROCM_PATH is /opt/rocm, which is not the development tree of these packages\n"
        '    Unset ROCM_PATH, or set it for these: eval "$(rocm-sdk env)"\n'
        "2 problems, 1 warnings\n"
    )


def test_packages_may_be_in_several_directories(tmp_path: Path) -> None:
    packages = {
        name: InstalledPackage(PackageNames(name, "", "_tree"), tmp_path / place, Path("/x"))
        for name, place in (("rocm-sdk-core", "user"), ("rocm-sdk-libraries", "system"))
    }
    (finding,) = symptoms.scattered(packages)
    assert finding.severity == "problem"
    assert f"rocm-sdk-libraries in {tmp_path}/system; rocm-sdk-core in {tmp_path}/user" in finding.text
    assert not list(symptoms.scattered(installed("rocm-sdk-core", "rocm-sdk-libraries")))


def test_the_systems_c_library_may_be_too_old() -> None:
    said = "libc.so.6: version `GLIBC_2.99' not found (required by libamdhip64.so.7)"
    (finding,) = symptoms.unloadable(Path("/site/libamdhip64.so.7"), lambda _: said)
    assert (finding.severity, finding.text) == ("problem", f"/site/libamdhip64.so.7 does not load: {said}")
    assert finding.remedy.startswith("The packages need a newer system: its C library is too old. ")
    assert not list(symptoms.unloadable(Path("/site/libamdhip64.so.7"), lambda _: ""))
    assert not list(symptoms.unloadable(None, lambda _: said))


def test_a_framework_may_bring_a_hip_of_its_own(tmp_path: Path) -> None:
    library = touch(tmp_path / "torch/lib/libamdhip64.so")
    touch(tmp_path / "_rocm_sdk_core/lib/libamdhip64.so.7")
    (finding,) = symptoms.bundled_copies(["", str(tmp_path)], [tmp_path / "_rocm_sdk_core"])
    assert finding.text == f"there is another ROCm: {library}"


def test_a_post_release_is_no_other_version(tmp_path: Path) -> None:
    touch(tmp_path / "rocm_sdk_device_gfx942-7.10.0.post1.dev0.dist-info/METADATA")
    assert not list(symptoms.version_skew(SPLIT, [tmp_path]))
