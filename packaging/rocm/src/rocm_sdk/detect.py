"""Finds the AMD GPUs of this machine, without an installed ROCm.

Sources, the first that knows any GPU wins: the environment variables of rocm-bootstrap, the kernel driver's topology in
sysfs (KFD, `gfx_target_version`), then the programs `offload-arch` and `rocm_agent_enumerator` of this Python
environment or on PATH, then `clinfo`, which AMD's driver for Windows installs. Others call `detect_gpus`, or
`ask_sources` if they want to tell what each source said.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sysconfig
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from .errors import TargetError
from .gpus.families import is_target, without_features
from .gpus.table import TARGETS

KFD_NODES = Path("/sys/class/kfd/kfd/topology/nodes")
PROGRAMS = ("offload-arch", "rocm_agent_enumerator", "clinfo")
PROGRAM_TIMEOUT_SECONDS = 20
#: AMD's rocm-bootstrap has these: `1` says that no GPU is to be looked for; a list of targets, split by `,`, that they
#: are this machine's.
DISABLE_VARIABLE = "ROCM_BOOTSTRAP_DISABLE_DETECTION"
FORCE_VARIABLE = "ROCM_BOOTSTRAP_FORCE_GFX_ARCH"
#: The runtime takes every GPU for one of this version, `major.minor.stepping`.
OVERRIDE_VARIABLE = "HSA_OVERRIDE_GFX_VERSION"
#: By these, pip keeps what it runs while it builds a package from seeing the environment that it builds for.
HIDING_VARIABLES = frozenset(("PYTHONPATH", "PYTHONNOUSERSITE"))

#: GPUs that only exist as part of a processor.
APU_TARGETS = frozenset(target.name for target in TARGETS if target.kind == "igpu")
_TARGET_ID = re.compile(r"gfx[0-9a-f]{3,5}(:[a-z]+[+-])*")


@dataclass(frozen=True)
class Gpu:
    """One GPU: its target ID, whether it is integrated into the CPU, and the source that reported it."""

    target: str
    integrated: bool
    source: str

    def describe(self) -> str:
        """Return words for a message: `integrated GPU gfx1103 (found by kfd)`."""
        return f"{'integrated' if self.integrated else 'discrete'} GPU {self.target} (found by {self.source})"


@dataclass(frozen=True)
class Answer:
    """Answer of one source: its GPUs in order, and in words where it looked and what it found."""

    source: str
    gpus: tuple[Gpu, ...]
    remark: str


def detect_gpus(kfd_nodes: Path = KFD_NODES, path: str | None = None) -> list[Gpu]:
    """Return the machine's GPUs in order of preference; empty if there are none.

    `path` replaces the PATH on which programs are looked up. What a source cannot tell is not an error.
    """
    return prefer(ask_sources(kfd_nodes, path))


def ask_sources(kfd_nodes: Path = KFD_NODES, path: str | None = None) -> list[Answer]:
    """Ask one source after the other until one knows a GPU, and return all answers; arguments as for `detect_gpus`.

    Raises TargetError if the environment variable that names GPUs holds something else.
    """
    said = _ask_environment(os.environ)
    if said is not None:
        return [said]
    answers = [ask_kfd(kfd_nodes)]
    for program in PROGRAMS:
        if not answers[-1].gpus:
            answers.append(_ask_program(program, path))
    return [_as_overridden(answer, os.environ) for answer in answers]


def prefer(answers: Sequence[Answer]) -> list[Gpu]:
    """Return the GPUs of the answers, discrete before integrated, else in the sources' order."""
    return sorted((gpu for answer in answers for gpu in answer.gpus), key=lambda gpu: gpu.integrated)


def _as_overridden(answer: Answer, environ: Mapping[str, str]) -> Answer:
    """Return the GPUs as the runtime takes them: HSA_OVERRIDE_GFX_VERSION gives all of them one target."""
    numbers = re.fullmatch(r"(\d+)\.(\d+)\.(\d+)", environ.get(OVERRIDE_VARIABLE, ""))
    if numbers is None or not answer.gpus:
        return answer
    major, minor, stepping = (int(number) for number in numbers.groups())
    target = f"gfx{major}{minor:x}{stepping:x}"
    gpus = tuple(replace(gpu, target=target) for gpu in answer.gpus)
    return replace(answer, gpus=gpus, remark=f"{answer.remark}; {OVERRIDE_VARIABLE} makes them {target}")


def _ask_environment(environ: Mapping[str, str]) -> Answer | None:
    if environ.get(DISABLE_VARIABLE) == "1":
        return Answer("environment", (), f"{DISABLE_VARIABLE} is 1")
    gpus = forced_gpus(environ)
    return Answer("environment", gpus, f"{FORCE_VARIABLE} is {environ[FORCE_VARIABLE]}") if gpus else None


def forced_gpus(environ: Mapping[str, str] = os.environ) -> tuple[Gpu, ...]:
    """Return the GPUs that the environment variable names; raises TargetError if it holds something else."""
    forced = environ.get(FORCE_VARIABLE, "")
    targets = [name for name in (part.strip() for part in forced.split(",")) if name]
    unknown = [name for name in targets if not is_target(without_features(name))]
    if unknown:
        raise TargetError(
            f"{FORCE_VARIABLE}={forced}: {unknown[0]} is not a GPU target; expected names such as gfx942. "
            "Correct this environment variable, or unset it."
        )
    return tuple(Gpu(target, False, "environment") for target in targets)


def ask_kfd(nodes: Path) -> Answer:
    """Read the KFD topology `nodes`; the GPUs are in the order of their numbers. CPU nodes have version 0."""
    try:
        numbers = sorted(int(node.name) for node in nodes.iterdir() if node.name.isdigit())
    except OSError as error:
        return Answer("kfd", (), f"{nodes}: {error.strerror}")
    gpus = []
    for number in numbers:
        properties = read_properties(nodes / str(number) / "properties")
        version = properties.get("gfx_target_version", 0)
        if version and properties.get("simd_count", 1):
            target = decode_gfx_target_version(version)
            integrated = properties.get("cpu_cores_count", 0) > 0 or target in APU_TARGETS
            gpus.append(Gpu(target, integrated, "kfd"))
    return Answer("kfd", tuple(gpus), f"{nodes}: {len(gpus)} of {len(numbers)} nodes are GPUs")


def decode_gfx_target_version(version: int) -> str:
    """Return the target ID of KFD's `gfx_target_version`: major * 10000 + minor * 100 + stepping (90010 is gfx90a)."""
    major, rest = divmod(version, 10000)
    minor, stepping = divmod(rest, 100)
    return f"gfx{major}{minor:x}{stepping:x}"


def read_properties(path: Path) -> dict[str, int]:
    """Return a KFD properties file, lines of `name number`; empty if it cannot be read (another user's device)."""
    try:
        words = [line.split() for line in path.read_text("ascii", "replace").splitlines()]
    except OSError:
        return {}
    return {pair[0]: int(pair[1]) for pair in words if len(pair) == 2 and pair[1].isdigit()}


def _ask_program(program: str, path: str | None) -> Answer:
    if path is None:
        # Not every environment in use is activated, and so on PATH.
        path = os.pathsep.join((sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)))
    executable = shutil.which(program, path=path)
    if executable is None:
        return Answer(program, (), "neither in this Python environment nor on PATH")
    try:
        done = subprocess.run(
            [executable],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={name: value for name, value in os.environ.items() if name not in HIDING_VARIABLES},
            timeout=PROGRAM_TIMEOUT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Answer(program, (), f"{executable}: no answer within {PROGRAM_TIMEOUT_SECONDS} s")
    except OSError as error:
        return Answer(program, (), f"{executable}: {error.strerror}")
    if done.returncode != 0:
        return Answer(program, (), f"{executable}: ended with status {done.returncode}")
    lines = [line.strip() for line in done.stdout.decode("utf-8", "replace").splitlines()]
    words = _clinfo_names(lines) if program == "clinfo" else lines
    targets = [word for word in words if _TARGET_ID.fullmatch(word) and word != "gfx000"]
    gpus = tuple(Gpu(target, without_features(target) in APU_TARGETS, program) for target in targets)
    return Answer(program, gpus, f"{executable}: lists {len(gpus)} GPUs")


def _clinfo_names(lines: Sequence[str]) -> list[str]:
    """Return the names of the GPUs that AMD's `clinfo` lists: of each device it prints the type, then the name."""
    names, is_gpu = [], False
    for line in lines:
        field, _, value = line.partition(":")
        if field == "Device Type":
            is_gpu = value.strip() == "CL_DEVICE_TYPE_GPU"
        elif field == "Name" and is_gpu:
            names.append(value.strip())
            is_gpu = False
    return names
