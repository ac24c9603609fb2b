"""Runs programs from PyPI that are made for AMD's packages, with ours.

    python3 -B -m tests.e2e.install.clients --dist DIR --wheels DIR [--fetch 3.14]

DIR has the packages of ROCm 7, where ROCm 7 finds its libc: a root of Debian unstable (tests/e2e/roots/debian_root.sh).
With `--fetch`, the locked wheels for that Python are fetched into the other directory, and nothing is run: the root has
no network. A client for whose libraries the packages lack something is not fetched and not run; that is printed.

Nothing is set for the clients, no LD_LIBRARY_PATH and no ROCM_PATH. The machine has no GPU, and that is what they say.
"""

import argparse
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

from develop.ci.machine import locked
from tests.e2e.testing.commands import attempt, fetch_locked, install, make_environment

LOCK = Path(__file__).with_suffix(".txt")
HIP_PYTHON = ("hip-python", "rocm-bindings-core", "rocm-bindings-hip")
JAX = ("jax", "jaxlib", "jax-rocm7-plugin", "jax-rocm7-pjrt", "ml-dtypes", "numpy", "opt-einsum", "scipy")


@dataclass(frozen=True)
class Client:
    """A program that uses ROCm."""

    name: str
    #: Projects of the lock file: it and what it needs.
    projects: tuple[str, ...]
    #: SONAMEs of libraries that the packages must have.
    libraries: tuple[str, ...]
    code: str
    #: Regular expression of what it prints, on either stream.
    says: str


def _bindings(module: str, call: str, *libraries: str, says: str, extra: str = "libraries") -> Client:
    projects = (*HIP_PYTHON, f"rocm-bindings-{extra}")
    return Client(
        f"hip-python: {module}", projects, libraries, f"from rocm.bindings import {module} as m; {call}", says
    )


KERNEL = r"extern \"C\" __global__ void add(float *a) { a[threadIdx.x] += 1; }"
HIPRTC = f"""
error, program = m.hiprtcCreateProgram(b"{KERNEL}", b"add", 0, None, None)
print(m.hiprtcCompileProgram(program, 1, [b"--offload-arch=gfx90a"]), m.hiprtcGetCodeSize(program)[1] > 1000)
"""
#: OpenMM's plugin has no search path: the process loads ROCm first, as frameworks do.
OPENMM = """
import rocm_sdk
rocm_sdk.initialize_process(preload_shortnames=["amdhip64", "hiprtc", "hipfft"])
import openmm
print([text for text in openmm.Platform.getPluginLoadFailures() if "HIP" in text])
system = openmm.System()
system.addParticle(1)
openmm.Context(system, openmm.VerletIntegrator(0.001), openmm.Platform.getPlatformByName("HIP"))
"""
JAX_CODE = """
import jax_rocm7_plugin._solver, jax_rocm7_plugin._sparse, jax_rocm7_plugin._rnn, jax_rocm7_plugin._linalg
import jax
print("loaded", jax.devices())
"""
RESOURCES = """
from rocm.bindings.util.paths import get_clang_resource_dir
from pathlib import Path
print(len(list(Path(get_clang_resource_dir()).glob("include/stddef.h"))), get_clang_resource_dir())
"""
CLIENTS = (
    _bindings("hip", "print(m.hipGetDeviceCount())", "libamdhip64.so.7", says="hipErrorNoDevice", extra="core"),
    _bindings("hiprtc", HIPRTC, "libhiprtc.so.7", says="HIPRTC_SUCCESS.* True", extra="core"),
    _bindings(
        "amd_comgr", "print(m.amd_comgr_get_version())", "libamd_comgr.so.3", says="SUCCESS", extra="compiler"
    ),
    _bindings("hipfft", "print(m.hipfftGetVersion())", "libhipfft.so.0", says="HIPFFT_SUCCESS"),
    _bindings("hiprand", "print(m.hiprandGetVersion())", "libhiprand.so.1", says="HIPRAND_STATUS_SUCCESS"),
    _bindings("hipblas", "print(m.hipblasCreate())", "libhipblas.so.3", says="HIPBLAS_STATUS_INTERNAL_ERROR"),
    _bindings("hipsolver", "print(m.hipsolverCreate())", "libhipsolver.so.1", says="HIPSOLVER_STATUS_"),
    _bindings("hipsparse", "print(m.hipsparseCreate())", "libhipsparse.so.4", says="HIPSPARSE_STATUS_"),
    _bindings("rccl", "print(m.ncclGetVersion())", "librccl.so.1", says="ncclSuccess", extra="systems"),
    Client("hip-python: resource directory", HIP_PYTHON, (), RESOURCES, r"1 .*_rocm_sdk_devel/lib/llvm/lib/clang/22"),
    Client(
        "openmm", ("openmm", "openmm-hip-7", "numpy"), ("libhipfft.so.0",), OPENMM, r"(?s)^\[\].*hipErrorNoDevice"
    ),
    Client(
        "jax", JAX, ("libhipblas.so.3", "libhipsolver.so.1", "libMIOpen.so.1"), JAX_CODE,
        r"(?s)loaded \[CpuDevice.*No AMD GPUs were found",
    ),
    Client(
        "cupy", ("cupy-rocm-7-0", "numpy"), ("libroctracer64.so.4", "libhipblas.so.3"),
        "import cupy; cupy.cuda.runtime.getDeviceCount()", "hipErrorNoDevice",
    ),
)  # fmt: skip


def lacking(client: Client, dist: Path) -> list[str]:
    """Return the libraries that a client needs, and that the packages do not have."""
    wheels = [ZipFile(wheel) for wheel in sorted(dist.glob("rocm_sdk_*.whl"))]
    there = {Path(name).name for wheel in wheels for name in wheel.namelist()}
    return [name for name in client.libraries if name not in there]


def fetch(clients: list[Client], version: str, wheels: Path) -> None:
    """Fetch the wheels of clients for a version of Python."""
    projects = sorted({project for client in clients for project in client.projects})
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as requirements:
        requirements.write(locked(tuple(projects), LOCK.read_text(encoding="utf-8")))
        requirements.flush()
        platforms = [f"--platform=manylinux_2_{minor}_x86_64" for minor in (17, 27, 28, 34)]
        fetch_locked(Path(requirements.name), wheels, version, *platforms)


def install_all(clients: list[Client], dist: Path, wheels: Path, directory: Path) -> Path:
    """Make an environment with the packages and the clients; return its interpreter."""
    python = make_environment(directory)
    target = min(path.name.split("-")[0].rpartition("_")[2] for path in dist.glob("rocm_sdk_device_*.whl"))
    links = (f"--find-links={dist}", f"--find-links={wheels}")
    projects = sorted({project for client in clients for project in client.projects})
    install(python, *links, f"rocm[libraries,devel,device-{target}]", ROCM_SDK_TARGET_FAMILY=target)
    install(python, *links, "--no-deps", *projects)
    return python


def main() -> int:
    """Run the command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dist", type=Path, required=True, help="directory of our distributions")
    parser.add_argument("--wheels", type=Path, required=True, help="directory of the clients' wheels")
    parser.add_argument("--fetch", metavar="VERSION", help="fetch them for a version of Python, and do no more")
    arguments = parser.parse_args()
    wanted = [client for client in CLIENTS if not lacking(client, arguments.dist)]
    if arguments.fetch:
        fetch(wanted, arguments.fetch, arguments.wheels)
        return 0
    failed = 0
    with tempfile.TemporaryDirectory(prefix="rocm-clients-") as folder:
        python = install_all(
            wanted, arguments.dist.absolute(), arguments.wheels.absolute(), Path(folder) / "environment"
        )
        for client in CLIENTS:
            if client not in wanted:
                print(f"not run: {client.name}: the packages lack {', '.join(lacking(client, arguments.dist))}")
                continue
            ran = attempt(python, "-c", client.code)
            said = ran.stdout + ran.stderr
            if re.search(client.says, said):
                print(f"{client.name}: {said.strip().splitlines()[-1][:150]}")
            else:
                failed += 1
                print(f"FAILED {client.name}: expected {client.says}, exit code {ran.returncode}\n{said}")
    print(f"{len(wanted)} clients, {failed} failed, {len(CLIENTS) - len(wanted)} not run")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
