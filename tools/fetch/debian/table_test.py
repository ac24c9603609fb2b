"""Tests that every package of ROCm has a rule, and that a dependency without one stops the fetch."""

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest

from tools.fetch.debian.apt import Apt, DebianPackage
from tools.fetch.debian.sources import Choice
from tools.fetch.debian.table import SYSTEM, PackageSelection, is_of_system, rule_of
from tools.fetch.debian.tool import main, resolve

#: Source -> its packages, all of the Debian ROCm Team: in trixie, forky, sid and experimental (November 2026).
PACKAGES = """
amdsmi: amd-smi libamd-smi-dev libamd-smi0 libamd-smi27 libgoamdsmi-shim64-1 libgoamdsmi-shim64-dev
aqlprofile: libhsa-amd-aqlprofile64-1 libhsa-amd-aqlprofile64-1-dev
composable-kernel: libcomposable-kernel-dev libcomposable-kernel-doc libcomposable-kernel-tests python3-ck4inductor
esmi: libe-smi64-1 libesmi-dev
half: libhalf-dev
hipblas: libhipblas-dev libhipblas-doc libhipblas0 libhipblas0-tests libhipblas2 libhipblas3 libhipblas3-bench
    libhipblas3-tests libhipblas3-tests-data
hipblas-common: libhipblas-common-dev
hipblaslt: libhipblaslt-dev libhipblaslt-doc libhipblaslt1 libhipblaslt1-bench libhipblaslt1-tests
    libhipblaslt1-tests-data
hipcub: libhipcub-dev libhipcub-tests
hipfft: libhipfft-dev libhipfft-doc libhipfft0 libhipfft0-tests libhipfftw0
hipify: hipify-perl
hiprand: libhiprand-dev libhiprand-doc libhiprand1 libhiprand1-tests
hipsolver: libhipsolver-dev libhipsolver-doc libhipsolver-fortran-dev libhipsolver-fortran1 libhipsolver0
    libhipsolver0-tests libhipsolver1 libhipsolver1-tests libhipsolver1-tests-data
hipsparse: libhipsparse-dev libhipsparse-doc libhipsparse0 libhipsparse0-tests libhipsparse1 libhipsparse1-tests
    libhipsparse4 libhipsparse4-tests
hipsparselt: hipsparselt-doc hipsparselt-tests libhipsparselt-dev libhipsparselt0
migraphx: libmigraphx-c-dev libmigraphx-c3 migraphx migraphx-dev migraphx-doc migraphx-tests migraphx-tools
miopen: libmiopen-dev libmiopen-doc libmiopen-tests-data libmiopen1 libmiopen1-tests
pkg-rocm-tools: pkg-rocm-tools rocm-podman-support rocm-qemu-support
rccl: librccl-dev librccl-doc librccl1 librccl1-tests
rocalution: librocalution-dev librocalution-doc librocalution0 librocalution0-tests librocalution1
    librocalution1-tests
rocblas: librocblas-dev librocblas-doc librocblas0 librocblas0-bench librocblas0-tests librocblas0-tests-data
    librocblas4 librocblas4-bench librocblas4-tests librocblas4-tests-data librocblas5 librocblas5-bench
    librocblas5-tests librocblas5-tests-data
rocdbgapi: amd-dbgapi-dev librocm-dbgapi0
rocfft: librocfft-dev librocfft-doc librocfft0 librocfft0-tests
rocm: rocm-dev rocm-doc rocm-tests
rocm-cmake: rocm-cmake
rocm-compilersupport: libamd-comgr-dev libamd-comgr2
rocm-core: librocm-core-dev librocm-core1
rocm-docs-core: python-rocm-docs-doc python3-rocm-docs
rocm-hipamd: hip-utils hipcc libamdhip64-5 libamdhip64-6 libamdhip64-7 libamdhip64-dev libamdhip64-doc
    libhiprtc-builtins5 libhiprtc-builtins6 libhiprtc-builtins7 libhiprtc6 libhiprtc7 rocm-opencl-icd
rocm-llvm: hipcc libamd-comgr-dev libamd-comgr3 rocm-device-libs-21 rocm-device-libs-22
rocm-smi-lib: liboam-dev liboam1 liboam7 librocm-smi-dev librocm-smi64-1 librocm-smi64-7 rocm-smi
rocminfo: rocminfo
rocprim: librocprim-dev librocprim-tests
rocprofiler-register: librocprofiler-register-0 librocprofiler-register-0-dev
rocr-runtime: libhsa-runtime-dev libhsa-runtime64-1 libhsa-runtime64-tests
rocrand: libhiprand-dev libhiprand-doc libhiprand1 libhiprand1-tests librocrand-dev librocrand-doc librocrand1
    librocrand1-tests
rocsolver: librocsolver-dev librocsolver-doc librocsolver0 librocsolver0-bench librocsolver0-tests
rocsparse: librocsparse-dev librocsparse-doc librocsparse0 librocsparse0-tests librocsparse0-tests-data
    librocsparse1 librocsparse1-tests librocsparse1-tests-data
roct-thunk-interface: libhsakmt-dev libhsakmt1
rocthrust: librocthrust-dev librocthrust-tests
roctracer: libroctx-dev libroctx64-4
rocwmma: librocwmma-dev librocwmma-docs librocwmma-tests librocwmma-tests-validate
rpp: librpp-dev librpp-hip-dev librpp-ocl-dev librpp2 librpp2-hip librpp2-ocl
"""
#: What no program is built or run with: documentation, tests, and tools for making the packages.
NO_SDK = re.compile(
    r".*-(?:bench|docs?|tests|tests-(?:data|validate))|pkg-rocm-tools|python3?-.*|rocm-(?:podman|qemu)-support"
)


def rocm_packages() -> list[str]:
    """Return the packages of the table that are parts of an SDK."""
    return [name for name in PACKAGES.split() if not name.endswith(":") and not NO_SDK.fullmatch(name)]


@pytest.mark.parametrize("package", rocm_packages())
def test_each_package_of_rocm_has_a_rule(package: str) -> None:
    found = rule_of(package)
    assert found
    component = "dev" if package.endswith("-dev") or package == "rocm-cmake" else "run"
    assert found.component == ("lib" if re.fullmatch(r"(?!.*-dev$)lib.*|.*-icd|.*-libs-\d+", package) else component)
    assert not is_of_system(package, SYSTEM)


def test_the_rest_of_the_table_has_no_rule() -> None:
    others = [name for name in PACKAGES.split() if NO_SDK.fullmatch(name)]
    assert [name for name in others if rule_of(name)] == []
    assert (len(others), len(rocm_packages())) == (75, 114)


class FakeApt:
    """An index of packages that depend on each other in a row."""

    choice = Choice("Debian", "forky", ())

    def __init__(self, *names: str) -> None:
        self.names = names

    def update(self) -> None:
        """Fetch nothing."""

    def absent(self, names: list[str]) -> list[str]:
        """Return the packages of a request that the index lacks."""
        return [name for name in names if name not in self.names]

    def resolve(self, names: list[str]) -> list[DebianPackage]:
        """Return all packages."""
        assert not self.absent(names)
        return [DebianPackage(name, "1", name, "amd64", "0") for name in self.names]

    def dependencies(self, packages: list[DebianPackage]) -> dict[str, list[str]]:
        """Return the next package for each."""
        return {one.name: [other.name] for one, other in pairwise(packages)}


@pytest.mark.parametrize(
    ("names", "options", "said"),
    [
        (("librocblas4", "libroctx64-4", "libc6", "libnew1"), (), ""),
        (("librocblas4", "libnew1"), (), "librocblas4 needs libnew1"),
        (("libe-smi64-1", "libnuma1", "libnew1"), (), "libnuma1 needs libnew1"),
        (("librocblas4", "libnew1"), ("--system=libnew*",), ""),
        (("librocblas4", "libnew1"), ("--system=librocblas*",), "`system` leaves out librocblas4"),
    ],
)
def test_a_dependency_without_a_rule(
    names: tuple[str, ...],
    options: tuple[str, ...],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(Apt, "create", lambda *_: FakeApt(*names))
    status = main(
        ["--step=resolve", f"--directory={tmp_path}", f"--package={names[0]}", "--label=rocm.debian", *options]
    )
    assert (status, said in capsys.readouterr().err) == (1 if said else 0, True)
    assert (tmp_path / "resolved.json").exists() == (not said)


def test_an_optional_package_that_the_suite_lacks_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Apt, "create", lambda *_: FakeApt("librocblas4", "libroctx64-4"))
    selection = PackageSelection(("librocblas4",), ("libroctx64-4", "librocsolver0"))
    resolve(tmp_path, "", selection, rule_of, ())
    found = json.loads((tmp_path / "resolved.json").read_text())
    assert found["absent"] == ["librocsolver0"]
    assert [one["name"] for one in found["packages"]] == ["librocblas4", "libroctx64-4"]
