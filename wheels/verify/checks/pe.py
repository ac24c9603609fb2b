"""W421 to W423: each DLL and EXE in a wheel for Windows is for it, and can be loaded (Microsoft, "PE Format").

Data in wheels for other systems is not checked. W416 finds files for another CPU.
"""

from collections.abc import Iterator
from typing import Final

from lib.elf import constants as elf
from lib.elf.platforms import BY_MACHINE
from lib.pe import constants as c
from lib.pe.model import MACHINES, PeImage
from wheels.verify.checks.elf import MACHINE, linked_files
from wheels.verify.finding import Finding, Rule, Severity
from wheels.verify.model import Wheel
from wheels.verify.settings import Settings
from wheels.verify.windows import PLATFORMS, is_debug_runtime, is_for_windows

DAMAGED = Rule(
    "W421",
    "a damaged DLL or EXE",
    why="Windows cannot load it, or its headers contradict each other, or are cut off.",
    remedy="Build it again; see whether a tool has edited it since.",
)
OTHER_SYSTEM = Rule(
    "W422",
    "a program or library for Linux in a wheel for Windows",
    severity=Severity.WARNING,
    why="Windows can neither load nor run it: it is downloaded for nothing, or stands where a DLL should.",
    remedy="Leave it out, or declare an exception if it is data.",
)
DEBUG_RUNTIME = Rule(
    "W423",
    "needs a runtime for debugging",
    why="Only machines with Visual Studio have it, and its licence forbids passing it on.",
    remedy="Build with /MD, the release configuration (CMAKE_BUILD_TYPE=Release).",
)
#: No image is smaller than the header for DOS, in bytes.
_DOS_HEADER: Final = 64
#: The CPUs of systems; other ELF files are for other processors, such as GPUs.
_CPUS: Final = frozenset((elf.EM_386, *BY_MACHINE))


def images(wheel: Wheel) -> Iterator[tuple[str, PeImage]]:
    """Yield the DLLs and EXEs of a wheel with their paths, sorted."""
    for path, facts in wheel.files.items():
        if facts.pe is not None:
            yield path, facts.pe


def check(wheel: Wheel, settings: Settings) -> Iterator[Finding]:
    """Look at the DLLs and EXEs of a wheel for Windows."""
    del settings
    if not is_for_windows(wheel.tags):
        return
    for path, facts in wheel.files.items():
        if facts.pe_damage and facts.size >= _DOS_HEADER:
            yield DAMAGED.finding(wheel.filename, path, facts.pe_damage)
    for facts, found in linked_files(wheel):
        if found.machine in _CPUS:
            yield OTHER_SYSTEM.finding(wheel.filename, facts.path, f"an ELF file, e_machine is {found.machine}")
    yield from _machines(wheel)
    for path, image in images(wheel):
        if debug := [name for name in (*image.libraries, *image.delayed_libraries) if is_debug_runtime(name)]:
            yield DEBUG_RUNTIME.finding(wheel.filename, path, f"needs {', '.join(debug)}")


def _machines(wheel: Wheel) -> Iterator[Finding]:
    platforms = sorted({tag.platform for tag in wheel.tags})
    wanted = {PLATFORMS[one] for one in platforms}
    for path, image in images(wheel):
        # Managed code says x86 and runs anywhere; Windows runs programs of 32 bits on all machines.
        allowed = wanted if image.is_dll and not image.is_managed else wanted | {c.IMAGE_FILE_MACHINE_I386}
        if image.machine not in allowed:
            machine = MACHINES.get(image.machine, "no CPU that packages are made for")
            evidence = f"Machine is {image.machine:#x} ({machine}); expected the Machine of {', '.join(platforms)}"
            yield MACHINE.finding(wheel.filename, path, evidence)
