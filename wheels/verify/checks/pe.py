"""W421: each DLL and EXE in a wheel for Windows is for it, and can be loaded (Microsoft, "PE Format").

Data in wheels for other systems is not checked. W416 finds files for another CPU.
"""

from collections.abc import Iterator
from typing import Final

from lib.pe import constants as c
from lib.pe.model import MACHINES
from wheels.verify.checks.elf import MACHINE
from wheels.verify.finding import Finding, Rule
from wheels.verify.model import Wheel
from wheels.verify.settings import Settings
from wheels.verify.windows import PLATFORMS, is_for_windows

DAMAGED = Rule(
    "W421",
    "a damaged DLL or EXE",
    why="Windows cannot load it, or its headers contradict each other, or are cut off.",
    remedy="Build it again; see whether a tool has edited it since.",
)
#: No image is smaller than the header for DOS, in bytes.
_DOS_HEADER: Final = 64


def check(wheel: Wheel, settings: Settings) -> Iterator[Finding]:
    """Look at the DLLs and EXEs of a wheel for Windows."""
    del settings
    if not is_for_windows(wheel.tags):
        return
    for path, facts in wheel.files.items():
        if facts.pe_damage and facts.size >= _DOS_HEADER:
            yield DAMAGED.finding(wheel.filename, path, facts.pe_damage)
    yield from _machines(wheel)


def _machines(wheel: Wheel) -> Iterator[Finding]:
    platforms = sorted({tag.platform for tag in wheel.tags})
    wanted = {PLATFORMS[one] for one in platforms}
    for path, image in ((path, facts.pe) for path, facts in wheel.files.items() if facts.pe):
        # Managed code says x86 and runs anywhere; Windows runs programs of 32 bits on all machines.
        allowed = wanted if image.is_dll and not image.is_managed else wanted | {c.IMAGE_FILE_MACHINE_I386}
        if image.machine not in allowed:
            machine = MACHINES.get(image.machine, "no CPU that packages are made for")
            evidence = f"Machine is {image.machine:#x} ({machine}); expected the Machine of {', '.join(platforms)}"
            yield MACHINE.finding(wheel.filename, path, evidence)
