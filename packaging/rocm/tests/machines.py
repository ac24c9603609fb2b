"""Machines for tests of `rocm-sdk doctor`: directories that stand for `/`, with what kernel and systems put there."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from environments import Environment

#: gfx_target_version of KFD, by target.
VERSIONS = {"gfx942": 90402, "gfx1100": 110000, "gfx1103": 110003}
EXAMINE = """
import sys
from pathlib import Path
from rocm_sdk.doctor.examine import examine
from rocm_sdk.doctor import format_findings
print(format_findings(examine(Path(sys.argv[1])), as_json=True))
"""


@dataclass(frozen=True)
class Machine:
    """A machine: `root` is where its file system begins."""

    root: Path

    @classmethod
    def create(cls, root: Path, *targets: str, devices: bool = True) -> Machine:
        """Plant a machine with a CPU, these GPUs, their driver and, unless it is a container without, their devices."""
        machine = cls(root)
        machine.write("sys/class/kfd/kfd/topology/nodes/0/properties", "cpu_cores_count 16\nsimd_count 0\n")
        for number, target in enumerate(targets, 1):
            minor = 127 + number
            fields = f"simd_count 304\ngfx_target_version {VERSIONS[target]}\ndrm_render_minor {minor}\n"
            machine.write(f"sys/class/kfd/kfd/topology/nodes/{number}/properties", fields)
            machine.write(f"sys/bus/pci/devices/0000:0{number}:00.0/vendor", "0x1002\n")
            machine.write(f"sys/bus/pci/devices/0000:0{number}:00.0/class", "0x030000\n")
            if devices:
                machine.write(f"dev/dri/renderD{minor}", "")
        if devices and targets:
            machine.write("dev/kfd", "")
        return machine

    @classmethod
    def without_gpu(cls, root: Path) -> Machine:
        """Plant a machine without an AMD GPU, and so without its driver, such as a machine for builds or CI."""
        machine = cls(root)
        machine.write("sys/class/net/lo", "")
        machine.write("sys/bus/pci/devices/0000:00:02.0/vendor", "0x8086\n")
        machine.write("sys/bus/pci/devices/0000:00:02.0/class", "0x030000\n")
        return machine

    def write(self, path: str, text: str) -> Path:
        """Write a file."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def doctor(self, environment: Environment, **variables: str) -> list[str]:
        """Return what doctor says of an environment on this machine: `severity: name: text | remedy`."""
        path = f"{environment.root}/bin:/usr/bin:/bin"
        output = environment.run_code(EXAMINE, str(self.root), check=True, **{"PATH": path, **variables})
        report = json.loads(output)
        severities = [finding["severity"] for finding in report["findings"]]
        assert (report["problems"], report["warnings"]) == (severities.count("problem"), severities.count("warning"))
        return ["{severity}: {name}: {text} | {remedy}".format(**finding) for finding in report["findings"]]
