"""Numbers of the PE format that the build looks at, named as the specification names them.

Microsoft, "PE Format": https://learn.microsoft.com/windows/win32/debug/pe-format.
"""

from typing import Final

IMAGE_FILE_MACHINE_I386: Final = 0x14C
IMAGE_FILE_MACHINE_AMD64: Final = 0x8664
IMAGE_FILE_MACHINE_ARM64: Final = 0xAA64

IMAGE_FILE_EXECUTABLE_IMAGE: Final = 0x0002
IMAGE_FILE_DLL: Final = 0x2000

PE32: Final = 0x10B
PE32_PLUS: Final = 0x20B

IMAGE_SUBSYSTEM_WINDOWS_GUI: Final = 2
IMAGE_SUBSYSTEM_WINDOWS_CUI: Final = 3

#: The loader rounds where a section's bytes begin down to a multiple of this, whatever the alignment.
SECTOR: Final = 512

#: Directories of an install prefix in which DLLs lie. `rocm_sdk.library_table` has a copy; tests/lint compares them.
DLL_DIRECTORIES: Final = ("bin",)

# Numbers of the data directories.
EXPORT_TABLE: Final = 0
IMPORT_TABLE: Final = 1
DELAY_IMPORT_DESCRIPTOR: Final = 13
CLR_RUNTIME_HEADER: Final = 14
