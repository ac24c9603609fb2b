"""Runs `rocm-sdk doctor` on machines with something wrong, and on healthy ones.

A machine is a namespace with a `/sys`, a `/dev` and an `/opt` of its own, and packages to which something was done.

    python3 -B -m tests.e2e.install.doctor_situations --dist DIR

DIR has the example SDK's packages, of the split layout. It needs root and bubblewrap. It prints what doctor says of
each situation, as a table, and ends with 1 where that is not what is expected; notes are as they may be.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.e2e.testing.commands import attempt, run

#: Who has no rights.
NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
#: gfx_target_version of the kernel's driver.
VERSIONS = {"gfx942": 90402, "gfx1100": 110000, "gfx1103": 110003}

#: As long as the version of the packages.
OTHER_VERSION = "7.10.1.dev0"


@dataclass
class Machine:
    """A machine: what is mounted where, and an environment with packages."""

    folder: Path
    site: Path
    environ: dict[str, str] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    is_read_only: bool = False

    @property
    def core(self) -> Path:
        """The tree of core."""
        return self.site / "_rocm_sdk_core"

    def write(self, path: str, data: str | bytes = "") -> Path:
        """Write a file of `sys`, `dev` or `opt`, or anywhere in the folder."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data.encode() if isinstance(data, str) else data)
        return file

    def add_gpu(self, target: str) -> None:
        """Add a GPU with its driver and its devices."""
        nodes = self.folder / "sys/class/kfd/kfd/topology/nodes"
        number = len(list(nodes.iterdir())) if nodes.is_dir() else 0
        if not number:
            self.write("sys/class/kfd/kfd/topology/nodes/0/properties", "cpu_cores_count 16\nsimd_count 0\n")
            number = 1
        fields = f"simd_count 304\ngfx_target_version {VERSIONS[target]}\ndrm_render_minor {127 + number}\n"
        self.write(f"sys/class/kfd/kfd/topology/nodes/{number}/properties", fields)
        self.add_pci_gpu(number)
        self.write(f"dev/dri/renderD{127 + number}")
        self.write("dev/kfd")

    def add_pci_gpu(self, number: int = 1) -> None:
        """Add a GPU to the PCI bus alone."""
        self.write(f"sys/bus/pci/devices/0000:0{number}:00.0/vendor", "0x1002\n")
        self.write(f"sys/bus/pci/devices/0000:0{number}:00.0/class", "0x030000\n")

    def run(self, *words: object, user: tuple[str, ...] = ()) -> "subprocess.CompletedProcess[str]":
        """Run a command there."""
        devices = [(one, f"/dev/{one.name}") for one in sorted((self.folder / "dev").iterdir())]
        mounts = [("sys", "/sys"), ("opt", "/opt")]
        binds = [*devices, *((self.folder / name, place) for name, place in mounts)]
        shown = [word for source, place in binds for word in ("--bind", source, place)]
        shown += ["--ro-bind" if self.is_read_only else "--bind", self.folder, self.folder]
        command = ("bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", *shown)
        environ = {"PATH": f"{self.folder}/venv/bin:/usr/bin:/bin", "HOME": "/tmp", **self.environ}
        named = [word for name, value in environ.items() for word in ("--setenv", name, value)]
        return attempt(*command, "--clearenv", *named, *user, *words)

    def sdk(self, *words: str) -> str:
        """Run `rocm-sdk`, which must succeed."""
        done = self.run(self.folder / "venv/bin/python", "-m", "rocm_sdk", *words)
        assert done.returncode == 0, done
        return done.stdout

    def doctor(self) -> list[dict[str, str]]:
        """Return the findings of `rocm-sdk doctor`."""
        done = self.run(self.folder / "venv/bin/python", "-m", "rocm_sdk", "doctor", "--json", user=self.words)
        try:
            return list(json.loads(done.stdout)["findings"])
        except ValueError:
            sys.exit(f"rocm-sdk doctor: {done.returncode}\n{done.stdout}{done.stderr}")


@dataclass(frozen=True)
class Situation:
    """What is done to a healthy machine with a gfx942, unless it has other GPUs; and what doctor has to find."""

    title: str
    expected: tuple[str, ...]
    change: Callable[[Machine], object] = lambda machine: None
    gpus: tuple[str, ...] = ("gfx942",)
    environ: Mapping[str, str] = field(default_factory=dict)


def package(machine: Machine, path: str, data: bytes = b"") -> None:
    """Put a Python package into site-packages, perhaps with one more file."""
    (machine.site / path).parent.mkdir(parents=True, exist_ok=True)
    (machine.site / path).write_bytes(data)
    (machine.site / path.partition("/")[0] / "__init__.py").touch()


def rename_metadata(machine: Machine) -> None:
    """Give core's metadata another version."""
    (info,) = machine.site.glob("rocm_sdk_core-*.dist-info")
    version = info.name.removeprefix("rocm_sdk_core-").removesuffix(".dist-info")
    for name, known in (("METADATA", f"Version: {version}"), ("RECORD", info.name)):
        text = (info / name).read_text()
        (info / name).write_text(text.replace(known, known.replace(version, OTHER_VERSION)))
    info.rename(info.with_name(f"rocm_sdk_core-{OTHER_VERSION}.dist-info"))


def remove_core(machine: Machine) -> None:
    """Remove what RECORD lists of core, as installers do."""
    (record,) = machine.site.glob("rocm_sdk_core-*.dist-info/RECORD")
    for row in record.read_text().splitlines():
        (machine.site / row.partition(",")[0]).unlink(missing_ok=True)
    shutil.rmtree(record.parent)


def nobody(machine: Machine) -> None:
    """Run as a user without rights; the devices are root's."""
    unpack(machine)
    machine.words = NOBODY
    for device in (machine.folder / "dev").rglob("*"):
        device.chmod(0o755 if device.is_dir() else 0o600)


def unpack(machine: Machine) -> Path:
    """Make the links of the development tree."""
    return Path(machine.sdk("path", "--root").strip())


def second_copy(machine: Machine) -> None:
    """Make a link of the development tree a copy, as another layer of an image has it."""
    library = next((unpack(machine) / "lib").glob("libhiprtc.so.*"))
    data = library.read_bytes()
    library.unlink()
    library.write_bytes(data)


def read_only(machine: Machine) -> None:
    """Have a site-packages that cannot be written, without the tree."""
    machine.is_read_only = True


def other_library(machine: Machine) -> str:
    """Put a library that is named like ours, and needs no other, into another directory; return its path."""
    data = next(machine.core.rglob("libLLVM.so.*")).read_bytes()
    return str(machine.write("other/libamdhip64.so.7", data))


GPU, ACCESS, HIDDEN, TARGET = "gpu", "problem: access", "warning: hidden", "problem: target"
SITUATIONS = (
    Situation("healthy: one GPU", ()),
    Situation("healthy: two GPUs", (), gpus=("gfx942", "gfx1100")),
    Situation("healthy: a machine that builds, without a GPU", (), gpus=()),
    Situation("nothing at /sys", (), lambda m: _empty_sys(m), gpus=()),
    Situation("/dev/kfd without /sys", ("problem: gpu",), lambda m: m.write("dev/kfd"), gpus=()),
    Situation("a GPU without a driver", ("warning: gpu",), lambda m: m.add_pci_gpu(), gpus=()),
    Situation("detection is off", (), environ={"ROCM_BOOTSTRAP_DISABLE_DETECTION": "1"}),
    Situation("no /dev/dri", (ACCESS,), lambda m: shutil.rmtree(m.folder / "dev/dri")),
    Situation("no /dev/kfd", (ACCESS,), lambda m: (m.folder / "dev/kfd").unlink()),
    Situation("devices that others own", (ACCESS,), nobody),
    Situation("HIP_VISIBLE_DEVICES=-1", (HIDDEN,), environ={"HIP_VISIBLE_DEVICES": "-1"}),
    Situation("CUDA_VISIBLE_DEVICES=-1", (HIDDEN,), environ={"CUDA_VISIBLE_DEVICES": "-1"}),
    Situation("an unknown family", (TARGET,), environ={"ROCM_SDK_TARGET_FAMILY": "gfx1"}),
    Situation("an unknown GPU to force", (TARGET,), environ={"ROCM_BOOTSTRAP_FORCE_GFX_ARCH": "gfx"}),
    Situation("no code for the GPU", ("problem: device",), gpus=("gfx1103",)),
    Situation("core is not there", ("problem: core", "problem: devel", "problem: loader"), remove_core),
    Situation("core is half removed", ("problem: files",), lambda m: shutil.rmtree(m.site / "rocm_sdk_core")),
    Situation(
        "a kernel is gone", ("problem: files", "problem: devel"), lambda m: next(m.site.rglob("*gfx942*.dat")).unlink()
    ),
    Situation("a library has another size", ("problem: files",), lambda m: _grow(m, "lib/libhiprtc.so.7")),
    Situation("a library that does not load", ("problem: loader",), lambda m: _needs_more(m)),
    Situation("packages of two versions", ("problem: versions", "problem: devel"), rename_metadata),
    Situation("a tree that is up to date", (), unpack),
    Situation("a tree that was deleted", ("problem: files", "problem: devel"), lambda m: shutil.rmtree(unpack(m))),
    Situation("a second copy of a library", ("problem: devel",), second_copy),
    Situation("a link of the tree is gone", ("problem: devel",), lambda m: (unpack(m) / "bin/hipcc").unlink()),
    Situation("a file of the tree is gone", ("problem: files",), lambda m: next(unpack(m).rglob("*.h")).unlink()),
    Situation("read-only, and no tree", ("problem: devel",), read_only),
    Situation("LD_LIBRARY_PATH with our names", ("problem: shadowed",), lambda m: _search(m, "")),
    Situation("LD_LIBRARY_PATH with an empty entry", ("warning: shadowed",), environ={"LD_LIBRARY_PATH": "/nowhere:"}),
    Situation("a second HIP by LD_PRELOAD", ("problem: loaded",), lambda m: _preload(m)),
    Situation("an unknown preload", ("problem: preload",), environ={"ROCM_SDK_PRELOAD_LIBRARIES": "nosuch"}),
    Situation("torch for CUDA", ("warning: framework",), lambda m: _cuda(m)),
    Situation("vLLM without amdsmi", ("warning: framework",), lambda m: _vllm(m)),
    Situation("a package with its own HIP", ("warning: second",), lambda m: package(m, "x/lib/libamdhip64.so")),
    Situation("ROCm in /opt", ("warning: second",), lambda m: m.write("opt/rocm/lib/libamdhip64.so.7")),
    Situation("ROCM_PATH leads elsewhere", ("warning: variable",), environ={"ROCM_PATH": "/usr"}),
    Situation("another ROCm's program on PATH", ("warning: second",), lambda m: _program(m)),
)


def _empty_sys(machine: Machine) -> None:
    shutil.rmtree(machine.folder / "sys")
    (machine.folder / "sys").mkdir()


def _grow(machine: Machine, path: str) -> None:
    file = machine.core / path
    data = file.read_bytes()
    file.unlink()
    file.write_bytes(data + b"\0")


def _with_need(machine: Machine, needed: bytes) -> tuple[Path, bytes]:
    """Return HIP's library, and its bytes if it needed another library than the real one."""
    (library,) = machine.core.glob("lib/libamdhip64.so.*")
    known = b"libhsa-runtime64.so.1"
    return library, library.read_bytes().replace(known, needed.ljust(len(known), b"\0"))


def _needs_more(machine: Machine) -> None:
    library, data = _with_need(machine, b"libnosuch.so.1")
    library.unlink()
    library.write_bytes(data)


def _search(machine: Machine, more: str) -> None:
    machine.environ["LD_LIBRARY_PATH"] = str(Path(other_library(machine)).parent) + more


def _preload(machine: Machine) -> None:
    machine.environ["LD_PRELOAD"] = other_library(machine)


def _cuda(machine: Machine) -> None:
    package(machine, "torch/lib/libtorch.so", _with_need(machine, b"libcudart.so.12")[1])


def _vllm(machine: Machine) -> None:
    package(machine, "vllm/a")
    path_file = machine.site / "rocm_sdk_core.pth"
    path_file.write_text("#".ljust(path_file.stat().st_size - 1) + "\n")


def _program(machine: Machine) -> None:
    machine.write("opt/other/bin/hipcc", "#!/bin/sh\n").chmod(0o755)
    machine.environ["PATH"] = f"/opt/other/bin:{machine.folder}/venv/bin:/usr/bin:/bin"


def make(base: Path, folder: Path, situation: Situation) -> Machine:
    """Make the machine of a situation, with a copy of the environment `base`."""
    shutil.copytree(base, folder / "venv", symlinks=True)
    for name in ("sys", "dev", "opt"):
        (folder / name).mkdir()
    (site,) = (folder / "venv/lib").glob("python3*/site-packages")
    machine = Machine(folder, site, dict(situation.environ))
    machine.write("sys/class/net/lo/address")
    for target in situation.gpus:
        machine.add_gpu(target)
    situation.change(machine)
    return machine


def main() -> int:
    """Make all machines, and ask doctor."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dist", type=Path, required=True, help="directory of the distributions, with its index.html")
    args = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory(prefix="rocm-doctor-", dir="/var/tmp") as name:
        scratch = Path(name)
        scratch.chmod(0o755)
        base = scratch / "base"
        run(sys.executable, "-m", "venv", "--without-pip", base)
        pip = (sys.executable, "-m", "pip", "--python", base / "bin/python", "install", "--quiet", "--no-index")
        wanted = "rocm[libraries,device-all,devel]"
        run(*pip, f"--find-links={args.dist}/index.html", wanted, ROCM_SDK_TARGET_FAMILY="gfx942")
        for number, situation in enumerate(SITUATIONS):
            folder = scratch / str(number)
            folder.mkdir()
            findings = make(base, folder, situation).doctor()
            said = tuple(f"{one['severity']}: {one['name']}" for one in findings if one["severity"] != "note")
            fine = said == situation.expected
            wrong += not fine
            texts = "; ".join(f"{one['severity']}: {one['name']}: {one['text']}" for one in findings).replace("|", "/")
            print(f"| {situation.title} | {texts.replace(str(folder), '…') or 'nothing'} |", flush=True)
            if not fine:
                print(f"expected {situation.expected}, and found {said}", flush=True)
            shutil.rmtree(folder)
    return int(wrong > 0)


if __name__ == "__main__":
    raise SystemExit(main())
