"""Detection of GPUs from made-up KFD topologies and programs."""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Callable
from pathlib import Path

import pytest
from rocm_sdk import detect
from rocm_sdk.detect import Gpu, ask_kfd, ask_sources, decode_gfx_target_version, detect_gpus
from rocm_sdk.errors import TargetError

CPU = {"cpu_cores_count": 16, "simd_count": 0, "gfx_target_version": 0}


@pytest.mark.parametrize(
    ("version", "target"),
    [
        (90010, "gfx90a"),
        (90402, "gfx942"),
        (90500, "gfx950"),
        (110003, "gfx1103"),
        (120001, "gfx1201"),
        (90012, "gfx90c"),
    ],
)
def test_decode_gfx_target_version(version: int, target: str) -> None:
    assert decode_gfx_target_version(version) == target


def test_discrete_before_integrated_else_in_order_of_nodes(kfd_nodes: Callable[..., Path], tmp_path: Path) -> None:
    apu = {"cpu_cores_count": 8, "gfx_target_version": 90000}
    versions = [110003, 110000, 90402]
    nodes = kfd_nodes(CPU, apu, *({"cpu_cores_count": 0, "gfx_target_version": version} for version in versions))
    assert detect_gpus(nodes, str(tmp_path)) == [
        Gpu("gfx1100", False, "kfd"),
        Gpu("gfx942", False, "kfd"),
        Gpu("gfx900", True, "kfd"),
        Gpu("gfx1103", True, "kfd"),
    ]


def test_nodes_are_ordered_as_numbers(kfd_nodes: Callable[..., Path]) -> None:
    nodes = kfd_nodes(CPU, CPU, *[{"gfx_target_version": 110000 + number} for number in range(10)])
    assert [gpu.target for gpu in ask_kfd(nodes).gpus] == [f"gfx110{number}" for number in range(10)]


def test_no_topology_and_no_program_is_no_gpu(tmp_path: Path) -> None:
    assert detect_gpus(tmp_path / "nodes", str(tmp_path)) == []


def test_unreadable_or_odd_properties_are_passed_over(kfd_nodes: Callable[..., Path]) -> None:
    nodes = kfd_nodes(CPU, {"gfx_target_version": 90402})
    (nodes / "2").mkdir()
    (nodes / "3").mkdir()
    (nodes / "3" / "properties").write_bytes(b"gfx_target_version x\n\nname\n\xff\xfe 1\n")
    assert ask_kfd(nodes).gpus == (Gpu("gfx942", False, "kfd"),)


def _program(directory: Path, name: str, text: str) -> None:
    directory.mkdir(exist_ok=True)
    (directory / name).write_text(f"#!/bin/sh\n{text}\n")
    (directory / name).chmod(0o755)


def test_programs_are_asked_in_turn(tmp_path: Path) -> None:
    path = tmp_path / "bin"
    _program(path, "rocm_agent_enumerator", "printf 'gfx000\\ngfx1036\\ngfx90a:sramecc+:xnack-\\n'")
    program = "rocm_agent_enumerator"
    expected = [Gpu("gfx90a:sramecc+:xnack-", False, program), Gpu("gfx1036", True, program)]
    assert detect_gpus(tmp_path / "nodes", str(path)) == expected
    _program(path, "offload-arch", "echo Failed to find a GPU; exit 1")
    assert detect_gpus(tmp_path / "nodes", str(path)) == expected
    _program(path, "offload-arch", "echo gfx1100; echo a warning; echo gfx1101")
    assert [gpu.target for gpu in detect_gpus(tmp_path / "nodes", str(path))] == ["gfx1100", "gfx1101"]


def test_clinfo_is_asked_last_for_gpus_alone(tmp_path: Path) -> None:
    cpu = "  Device Type:  CL_DEVICE_TYPE_CPU\n  Name:  gfx900\n"
    gpu = "  Device Type:\t CL_DEVICE_TYPE_GPU\n  Board name:\t AMD: a board\n  Name:\t {}\n  Name:\t gfx906\n"
    text = cpu + gpu.format("gfx1151") + gpu.format("Cypress") + gpu.format("gfx90a:sramecc+:xnack-")
    (tmp_path / "clinfo.txt").write_text(text)
    _program(tmp_path / "bin", "clinfo", f"cat {tmp_path}/clinfo.txt")
    expected = [Gpu("gfx90a:sramecc+:xnack-", False, "clinfo"), Gpu("gfx1151", True, "clinfo")]
    assert detect_gpus(tmp_path / "nodes", f"{tmp_path}/bin:{os.defpath}") == expected


def test_the_kernel_is_asked_first(kfd_nodes: Callable[..., Path], tmp_path: Path) -> None:
    _program(tmp_path / "bin", "offload-arch", "echo gfx1100")
    assert detect_gpus(kfd_nodes({"gfx_target_version": 90402}), str(tmp_path / "bin")) == [Gpu("gfx942", False, "kfd")]


def test_each_source_says_where_it_looked_and_what_it_found(kfd_nodes: Callable[..., Path], tmp_path: Path) -> None:
    path = tmp_path / "bin"
    _program(path, "offload-arch", "exit 3")
    _program(path, "rocm_agent_enumerator", "echo gfx1100")
    assert [(answer.source, answer.remark) for answer in ask_sources(tmp_path / "nodes", str(path))] == [
        ("kfd", f"{tmp_path}/nodes: No such file or directory"),
        ("offload-arch", f"{path}/offload-arch: ended with status 3"),
        ("rocm_agent_enumerator", f"{path}/rocm_agent_enumerator: lists 1 GPUs"),
    ]
    nodes = kfd_nodes(CPU, {"gfx_target_version": 90402})
    (answer,) = ask_sources(nodes, str(path))
    assert answer.remark == f"{nodes}: 1 of 2 nodes are GPUs"


def test_programs_that_cannot_answer_are_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detect, "PROGRAM_TIMEOUT_SECONDS", 0.2)
    path = tmp_path / "bin"
    _program(path, "offload-arch", "exec sleep 30")
    (path / "rocm_agent_enumerator").write_bytes(b"\x7fELF no program")
    (path / "rocm_agent_enumerator").chmod(0o755)
    remarks = [answer.remark for answer in ask_sources(tmp_path / "nodes", f"{path}:{os.defpath}")]
    assert remarks[1:] == [
        f"{path}/offload-arch: no answer within 0.2 s",
        f"{path}/rocm_agent_enumerator: Exec format error",
        "neither in this Python environment nor on PATH",
    ]


def test_rocm_bootstraps_variables_stand_for_the_machine(
    kfd_nodes: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes = kfd_nodes({"gfx_target_version": 90402})
    monkeypatch.setenv("ROCM_BOOTSTRAP_FORCE_GFX_ARCH", " gfx1103, gfx942,,gfx90a:xnack+")
    assert [gpu.target for gpu in detect_gpus(nodes)] == ["gfx1103", "gfx942", "gfx90a:xnack+"]
    monkeypatch.setenv("ROCM_BOOTSTRAP_DISABLE_DETECTION", "1")
    assert ask_sources(nodes)[0].remark == "ROCM_BOOTSTRAP_DISABLE_DETECTION is 1"
    assert detect_gpus(nodes) == []


def test_a_forced_gpu_that_is_none_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROCM_BOOTSTRAP_FORCE_GFX_ARCH", "gfx942,MI300")
    with pytest.raises(
        TargetError, match=r"ROCM_BOOTSTRAP_FORCE_GFX_ARCH=gfx942,MI300: MI300 is not a GPU target; expected"
    ):
        detect_gpus()


def test_the_runtime_may_take_a_gpu_for_another(
    kfd_nodes: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    nodes = kfd_nodes(CPU, {"gfx_target_version": 100301})
    monkeypatch.setenv("HSA_OVERRIDE_GFX_VERSION", "10.3.0")
    assert detect_gpus(nodes) == [Gpu("gfx1030", False, "kfd")]
    assert ask_sources(nodes)[0].remark.endswith("; HSA_OVERRIDE_GFX_VERSION makes them gfx1030")


def test_programs_of_the_environment_are_asked_although_pip_hides_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where pip builds packages, there is another module search path: `offload-arch` does not find itself on it."""
    _program(tmp_path / "bin", "offload-arch", '[ -z "$PYTHONPATH$PYTHONNOUSERSITE" ] && echo gfx1100')
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path / "bin"))
    monkeypatch.setenv("PATH", os.defpath)
    monkeypatch.setenv("PYTHONPATH", "/overlay")
    monkeypatch.setenv("PYTHONNOUSERSITE", "1")
    assert detect_gpus(tmp_path / "nodes") == [Gpu("gfx1100", False, "offload-arch")]
