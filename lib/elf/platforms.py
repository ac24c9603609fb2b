"""The CPUs that packages are made for, and the libraries that every Linux of glibc has, which no package has to bring.

What differs in ELF and PE files is in their table; docs/built/how-to.md says where else a CPU is named.

`TARGETS` of `rules/private/repositories/zig.bzl` and the configurations of `.bazelrc` name them, too;
`tests/lint/copies_test.py` compares.
"""

from fnmatch import fnmatchcase
from typing import Final, NamedTuple


class Cpu(NamedTuple):
    """One CPU."""

    name: str
    """What Bazel's platforms and Linux call it: `x86_64`."""
    elf_machine: int
    """e_machine of ELF files."""
    pe_machine: int
    """Machine of PE images; 0 if packages for Windows are not made for it."""
    go_name: str
    """What Go, OCI and Windows call it: `amd64`."""
    loaders: tuple[str, str]
    """The dynamic loaders that its psABI fixes: glibc's, then musl's."""
    relative: int
    """The type of a relocation that adds the load bias to the addend."""
    symbolic: int
    """The type that adds the value of a symbol to the addend."""
    irelative: int
    """The type that calls a function for the address."""
    elf_flags: int = 0
    """e_flags of files that are written for it: RISC-V's psABI has the floating-point ABI there."""


CPUS: Final = (
    Cpu("x86_64", 62, 0x8664, "amd64", ("/lib64/ld-linux-x86-64.so.2", "/lib/ld-musl-x86_64.so.1"), 8, 1, 37),
    Cpu("aarch64", 183, 0xAA64, "arm64", ("/lib/ld-linux-aarch64.so.1", "/lib/ld-musl-aarch64.so.1"), 1027, 257, 1032),
)
#: e_machine -> its row.
BY_MACHINE: Final = {cpu.elf_machine: cpu for cpu in CPUS}
#: Those for which packages for Windows are made.
WINDOWS_CPUS: Final = tuple(cpu for cpu in CPUS if cpu.pe_machine)


#: glibc's own libraries, and the runtimes of GCC that manylinux counts on.
SYSTEM_LIBRARIES: Final = (
    "ld-linux*.so.*",
    "libBrokenLocale.so.1",
    "libanl.so.1",
    "libc.so.6",
    "libdl.so.2",
    "libgcc_s.so.1",
    "libm.so.6",
    "libmvec.so.1",
    "libnsl.so.1",
    "libnss_*.so.2",
    "libpthread.so.0",
    "libresolv.so.2",
    "librt.so.1",
    "libstdc++.so.6",
    "libthread_db.so.1",
    "libutil.so.1",
)


def is_system_library(name: str) -> bool:
    """Whether every system has the library, by its SONAME."""
    return any(fnmatchcase(name, pattern) for pattern in SYSTEM_LIBRARIES)
