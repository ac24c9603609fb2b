"""Recognizes files that ROCm's libraries load only for some GPUs, by their names and directories.

    naming_part("lib/rocblas/library/gfx942/TensileManifest.txt")   # lib/rocblas/library/gfx942
    naming_part("share/miopen/db/gfx942130.HIP.fdb.txt")            # the whole path
    naming_part("acme/gfx942.py")                                   # None: Python for a GPU is for the host

`lib.gpus.paths.named_targets` reads the targets of such a part. AMD's splitter takes the same files apart
(rocm-systems, shared/kpack, `database_handlers`, July 2026); it also knows libraries that are named for a GPU, whose
device code says it here, and static libraries.
"""

import posixpath
import re
from typing import Final

#: HIP's, of which `lib.device` reads targets and code objects.
HIP: Final = (".hip_fatbin", ".hip_fat")


#: Suffixes of code objects, and of tables and archives of them. Two more lists are for other questions: CODE_SUFFIXES
#: of tools/actions/coverage/tool.py, and TARGET_SUFFIXES of tools/fetch/debian/table.py. Look at each when you add
#: one.
KERNELS: Final = (".co", ".dat", ".hsaco", ".kdb")
#: Suffixes of MIOpen's databases of kernels, of what was found to be fast, and of models that predict that.
DATABASES: Final = (".kdb", ".db", ".db.txt", ".fdb.txt", ".model")
#: Where MIOpen has its databases, whose names begin with the GPU.
_MIOPEN: Final = re.compile(r"(?:^|/)miopen/db/gfx[^/]*$")
#: AOTriton's archives of kernels: `amd-gfx942`, and `amd-gfx11xx` for a family.
_IMAGES: Final = re.compile(r"(?:^|.*/)aotriton\.images/amd-gfx[^/]+(?=/)")
#: Directories for one GPU: Tensile's in rocBLAS and others, and the directories of hipDNN's plugins at any depth.
_DIRECTORIES: Final = re.compile(
    r"(?:^|.*?/)(?:(?:rocblas|hipblaslt|hipsparselt)/library|engines/(?:test_)?arch_content(?:/[^/]+)*?)"
    r"/gfx[0-9][^/]*(?=/)"
)


def naming_part(path: str) -> str | None:
    """Return the part of a path that says for which GPUs a file is loaded; None if it is for any, or not loaded so."""
    name = posixpath.basename(path)
    if found := _IMAGES.match(path) or _DIRECTORIES.match(path):
        return path if name.endswith(KERNELS) and "gfx" in name else found[0]
    is_database = name.endswith(DATABASES) and _MIOPEN.search(path) is not None
    return path if is_database or name.endswith(KERNELS) else None


def is_code(path: str) -> bool:
    """Whether such a file has code for GPUs; the others say which code to load, or how fast it is."""
    return path.endswith(KERNELS) or _IMAGES.match(path) is not None
