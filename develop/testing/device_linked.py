"""Links libraries and programs with device code by the machine's own linkers, and asks them what they hand to HIP.

Their code walks each wrapper and bundle in memory, as HIP does it, and tells of every entry: so does the text that
`told` makes of bundles. For tests alone.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from develop.testing.device_sample import bundle
from develop.testing.linked_elf import link
from lib.device.reader import MAGIC, read_device_code

_SOURCE = """
#include <execinfo.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
%(bundles)s
struct wrapper { uint32_t magic, version; const char *bundle; void *unused; };
__attribute__((section(".hipFatBinSegment"), used)) struct wrapper wrappers[] = { %(wrappers)s };
__thread int local_data = 5;
int zeros[3000];
const char *const names[] = { "first", "second" };
static uint64_t word(const char *at) { uint64_t value; memcpy(&value, at, 8); return value; }
static unsigned long hashed(const char *data, unsigned long size) {
  uint64_t hash = 14695981039346656037u;
  for (uint64_t i = 0; i < size; i++) hash = (hash ^ (unsigned char)data[i]) * 1099511628211u;
  return hash;
}
int tell(void) {
  for (unsigned n = 0; n < sizeof wrappers / sizeof *wrappers; n++) {
    const char *bundle = wrappers[n].bundle, *at = bundle + 32;
    if (!memcmp(bundle, "CCOB", 4)) {
      unsigned size = (unsigned)word(bundle + 8);
      printf("CCOB %%u %%lx\\n", size, hashed(bundle, size));
      continue;
    }
    printf("%%#x %%u %%.24s %%d\\n", wrappers[n].magic, wrappers[n].version, bundle, ((uintptr_t)bundle & 4095) == 0);
    for (uint64_t count = word(bundle + 24); count; count--) {
      unsigned long size = word(at + 8);
      printf("%%.*s %%lu %%lx\\n", (int)word(at + 16), at + 24, size, hashed(bundle + word(at), size));
      at += 24 + word(at + 16);
    }
  }
  void *frames[64];
  int fine = backtrace(frames, 64) > 1;
  for (int i = 0; i < 3000; i++) fine &= !zeros[i];
  printf("%%s %%d %%d\\n", names[1], local_data++, fine);
  return fflush(stdout);
}
int main(void) { tell(); return 0; }
"""
_BUNDLE = """
__asm__(".pushsection .hip_fatbin,\\"a\\",%%progbits\\n.p2align 12\\n%(visibility)s\\n%(name)s:\\n"
        ".incbin \\"%(path)s\\"\\n.popsection\\n");
extern const char %(name)s[];
"""
_LOAD = "import ctypes, sys; ctypes.CDLL(sys.argv[1]).tell()"

Entries = Sequence[tuple[str, bytes]]


def link_device_code(
    output: Path,
    bundles: Sequence[Entries],
    *options: str,
    linker: str = "bfd",
    exported: bool = False,
    packed: Callable[[bytes], bytes] = bytes,
) -> Path:
    """Link a file with one wrapper per bundle, and one more for the first; their symbols are hidden or exported.

    Bundles stand in it as `packed` makes them, plain or compressed with version 2 of the header.
    Raises CalledProcessError when the linker does not know an option.
    """
    texts = []
    for number, entries in enumerate(bundles):
        path = output.with_name(f"{output.name}-{number}.hipfb")
        path.write_bytes(packed(bundle(entries)))
        name = f"__hip_fatbin_{number}"
        visibility = f".globl {name}" if exported else f".globl {name}\\n.hidden {name}"
        texts.append(_BUNDLE % {"name": name, "path": path, "visibility": visibility})
    numbers = [*range(len(bundles)), 0]
    wrappers = ", ".join(f"{{ 0x48495046, 1, __hip_fatbin_{number}, 0 }}" for number in numbers)
    source = _SOURCE % {"bundles": "".join(texts), "wrappers": wrappers}
    return link(output, source, *options, linker=linker)


def told(bundles: Sequence[Entries]) -> list[str]:
    """Return what a file linked so tells, if its bundles are these."""
    lines = []
    for entries in [*bundles, bundles[0]]:
        lines.append(f"0x48495046 1 {MAGIC.decode()} 1")
        lines += [f"{name} {len(code)} {_hash(code):x}" for name, code in entries]
    return [*lines, "second 5 1"]


def told_compressed(path: Path) -> list[str]:
    """Return what a file linked so tells, if `lib.device` reads its bundles from it, and they are compressed."""
    lines = []
    with path.open("rb") as file:
        bundles = read_device_code(file, str(path)).bundles
        for one in [*bundles, bundles[0]]:
            file.seek(one.offset)
            lines.append(f"CCOB {one.size} {_hash(file.read(one.size)):x}")
    return [*lines, "second 5 1"]


def tells(path: Path) -> list[str]:
    """Load a library in a process of its own, or run a program; returns what it tells, or status and last error."""
    command = [sys.executable, "-c", _LOAD, str(path)] if path.suffix == ".so" else [str(path)]
    env = {name: value for name, value in os.environ.items() if not name.startswith("LD_")} | {"LD_BIND_NOW": "1"}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    return done.stdout.splitlines() if done.returncode == 0 else [f"{done.returncode}", *done.stderr.splitlines()[-1:]]


def _hash(data: bytes) -> int:
    """FNV-1a, 64 bits."""
    value = 14695981039346656037
    for byte in data:
        value = (value ^ byte) * 1099511628211 % (1 << 64)
    return value
