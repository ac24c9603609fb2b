"""Which files are device code as a whole, and for which target each is.

ROCm's libraries open such files by names that they make up from the target of the GPU: `TensileLibrary_gfx1030.co`,
`Kernels.so-000-gfx90a-xnack+.hsaco`, `gfx90a68.kdb`.
"""

from typing import Final

from tools.lib.gpus.paths import named_targets

#: Suffixes of files that hold code objects: alone or bundled, in MIOpen's databases, in ROCm's archives.
SUFFIXES: Final = (".co", ".hsaco", ".kdb", ".kpack")
#: What `tools.actions.inspect` calls an ELF file that is a code object.
CODE_OBJECT: Final = "gpu-code-object"
#: Stands for the target of a file whose name says none.
NO_TARGET: Final = "(no target)"


def is_device_file(path: str, kind: str) -> bool:
    """Whether a file is device code as a whole; `kind` is its type, as `tools.actions.inspect` says."""
    return kind == CODE_OBJECT or path.endswith(SUFFIXES)


def target_of_file(path: str) -> str:
    """Return the canonical target IDs that a path names, joined by `, `; NO_TARGET if it names none."""
    return ", ".join(str(target) for target in named_targets(path)) or NO_TARGET
