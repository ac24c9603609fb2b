"""Names of the ELF standard (System V gABI, GNU extensions) for the numbers that `lib.elf` meets.

Only what is used is here. The values are the same in 32-bit and 64-bit files.
"""

from typing import Final

EI_CLASS: Final = 4
EI_DATA: Final = 5
ELFCLASS32: Final = 1
ELFCLASS64: Final = 2
ELFDATA2LSB: Final = 1
ELFDATA2MSB: Final = 2
EV_CURRENT: Final = 1

ET_REL: Final = 1
ET_EXEC: Final = 2
ET_DYN: Final = 3
ET_CORE: Final = 4

EM_386: Final = 3
EM_X86_64: Final = 62
EM_AARCH64: Final = 183
EM_AMDGPU: Final = 224

PN_XNUM: Final = 0xFFFF
SHN_ABS: Final = 0xFFF1
SHN_XINDEX: Final = 0xFFFF

PT_LOAD: Final = 1
PT_DYNAMIC: Final = 2
PT_INTERP: Final = 3
PT_NOTE: Final = 4
PT_PHDR: Final = 6
PT_TLS: Final = 7
PT_GNU_PROPERTY: Final = 0x6474E553
PT_GNU_STACK: Final = 0x6474E551
PT_GNU_RELRO: Final = 0x6474E552

PF_X: Final = 1
PF_W: Final = 2
PF_R: Final = 4

SHT_NULL: Final = 0
SHT_PROGBITS: Final = 1
SHT_SYMTAB: Final = 2
SHT_STRTAB: Final = 3
SHT_RELA: Final = 4
SHT_HASH: Final = 5
SHT_DYNAMIC: Final = 6
SHT_NOTE: Final = 7
SHT_NOBITS: Final = 8
SHT_REL: Final = 9
SHT_DYNSYM: Final = 11
SHT_GNU_HASH: Final = 0x6FFFFFF6
SHT_GNU_VERDEF: Final = 0x6FFFFFFD
SHT_GNU_VERNEED: Final = 0x6FFFFFFE
SHT_GNU_VERSYM: Final = 0x6FFFFFFF

SHF_WRITE: Final = 0x1
SHF_ALLOC: Final = 0x2
SHF_EXECINSTR: Final = 0x4

STT_TLS: Final = 6

VER_FLG_BASE: Final = 1
VER_FLG_WEAK: Final = 2

DT_NULL: Final = 0
DT_NEEDED: Final = 1
DT_PLTGOT: Final = 3
DT_HASH: Final = 4
DT_STRTAB: Final = 5
DT_SYMTAB: Final = 6
DT_STRSZ: Final = 10
DT_SYMENT: Final = 11
DT_SONAME: Final = 14
DT_RPATH: Final = 15
DT_REL: Final = 17
DT_RUNPATH: Final = 29
DT_VERSYM: Final = 0x6FFFFFF0
DT_FLAGS_1: Final = 0x6FFFFFFB
DT_GNU_HASH: Final = 0x6FFFFEF5
DT_GNU_CONFLICT: Final = 0x6FFFFEF8
DT_GNU_LIBLIST: Final = 0x6FFFFEF9
DT_CONFIG: Final = 0x6FFFFEFA
DT_DEPAUDIT: Final = 0x6FFFFEFB
DT_AUDIT: Final = 0x6FFFFEFC
DT_VERDEF: Final = 0x6FFFFFFC
DT_VERDEFNUM: Final = 0x6FFFFFFD
DT_VERNEED: Final = 0x6FFFFFFE
DT_VERNEEDNUM: Final = 0x6FFFFFFF
DT_AUXILIARY: Final = 0x7FFFFFFD
DT_FILTER: Final = 0x7FFFFFFF

DF_1_PIE: Final = 0x08000000

#: Dynamic entries whose value is an offset into the dynamic string table.
STRING_TAGS: Final = frozenset(
    (DT_NEEDED, DT_SONAME, DT_RPATH, DT_RUNPATH, DT_CONFIG, DT_DEPAUDIT, DT_AUDIT, DT_AUXILIARY, DT_FILTER)
)

NT_GNU_BUILD_ID: Final = 3
