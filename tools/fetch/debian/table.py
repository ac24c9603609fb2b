"""Lists the Debian packages to take, with the artifact that each becomes: the data behind `rocm.debian`.

`artifacts.debian` takes packages of any SDK. It needs no table: `plain_rule_of` makes an artifact of each.

Names of packages are regular expressions, matched as a whole, because they carry versions that differ from suite to
suite (libamdhip64-5, libamdhip64-6). The first rule that matches counts. Packages of SYSTEM stay with the system (libc,
Python). A dependency that is neither stops the fetch.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True)
class LayoutRule:
    """Rule for the packages that `pattern` matches."""

    pattern: str
    artifact: str
    component: str
    base: str

    def matches(self, package: str) -> bool:
        """Whether the rule is about this package."""
        return re.fullmatch(self.pattern, package) is not None


@dataclass(frozen=True)
class PackageSelection:
    """A set of packages to begin with; what they depend on comes along."""

    required: tuple[str, ...]
    #: Taken where the suite has them.
    optional: tuple[str, ...] = ()


_RUNTIME = ("hipcc", "libamd-comgr-dev", "libamdhip64-dev", "libhsa-runtime-dev", "rocm-smi", "rocminfo")
_SMALL_LIBRARIES = ("libhipfft-dev", "libhiprand-dev", "librocfft-dev", "librocrand-dev")
_BIG_LIBRARIES = (
    # Of AMD SMI the library only: its program needs Python libraries of the system.
    "hipify-perl",
    "libamd-smi-dev",
    "libhalf-dev",
    "libhipblas-dev",
    "libhipblaslt-dev",
    "libhipcub-dev",
    "libhipsolver-dev",
    "libhipsparse-dev",
    "libhipsparselt-dev",
    "libmiopen-dev",
    "librccl-dev",
    "librocalution-dev",
    "librocblas-dev",
    "librocprim-dev",
    "librocsolver-dev",
    "librocsparse-dev",
    "librocthrust-dev",
    "libroctx-dev",
    "librocwmma-dev",
)

SELECTIONS = {
    # The runtime, the compiler, and the libraries that are small: half a gigabyte, for tests.
    "small": PackageSelection(required=_RUNTIME, optional=_SMALL_LIBRARIES),
    # All of ROCm that the suite has.
    "all": PackageSelection(required=_RUNTIME, optional=_SMALL_LIBRARIES + _BIG_LIBRARIES),
}

#: Base directories, as ROCm's own build names them.
LLVM = "compiler/amd-llvm/stage"
COMGR = "compiler/amd-comgr/stage"
HIP = "core/clr/stage"
RUNTIME = "core/ROCR-Runtime/stage"
SYSDEPS = "third-party/sysdeps/stage"
SMI = "base/rocm_smi_lib/stage"

#: Libraries with device code, by the artifact that they belong to.
LIBRARIES = {
    "blas": (
        *("hipblas", "hipblaslt", "hipsolver", "hipsolver-fortran", "hipsparse", "hipsparselt"),
        *("rocblas", "rocsolver", "rocsparse"),
    ),
    "fft": ("hipfft", "hipfftw", "rocfft"),
    "miopen": ("miopen",),
    "rand": ("hiprand", "rocrand"),
    "rccl": ("rccl",),
    "rocalution": ("rocalution",),
}

#: Stems of package names (`lib{stem}5t64`, `lib{stem}-dev`) -> artifact and base directory.
_STEMS = {
    "amd-comgr": ("amd-llvm", COMGR),
    "amdhip64|hiprtc|hiprtc-builtins": ("core-hip", HIP),
    "amd-?smi|e-smi64|esmi|goamdsmi-shim64": ("core-amdsmi", "core/amdsmi/stage"),
    "composable-kernel": ("composable-kernel", "math-libs/composable_kernel/stage"),
    "half": ("base", "base/half/stage"),
    "hipblas-common": ("blas", "math-libs/hipblas-common/stage"),
    "hipcub|rocprim|rocthrust": ("prim", "math-libs/prim/stage"),
    "hsa-amd-aqlprofile64": ("aqlprofile", "profiler/aqlprofile/stage"),
    "hsa-runtime|hsa-runtime64|hsakmt": ("core-runtime", RUNTIME),
    "migraphx-c": ("migraphx", "ml-libs/migraphx/stage"),
    "oam|rocm-smi|rocm-smi64": ("base", SMI),
    "rocm-core": ("base", "base/rocm-core/stage"),
    "rocm-dbgapi": ("amd-dbgapi", "debug-tools/amd-dbgapi/stage"),
    "rocprofiler-register": ("base", "base/rocprofiler-register/stage"),
    "roctx|roctx64": ("rocprofiler-sdk", "profiler/roctracer/stage"),
    "rocwmma": ("rocwmma", "math-libs/rocWMMA/stage"),
    "rpp|rpp-hip|rpp-ocl": ("rpp", "cv-libs/rpp/stage"),
    **{
        library: (artifact, f"math-libs/{library}/stage")
        for artifact, libraries in LIBRARIES.items()
        for library in libraries
    },
}

#: Stems of system libraries that come along, so that programs run where they are missing or too old.
_SYSTEM_LIBRARIES = (
    *("boost-atomic", "boost-filesystem", "bsd", "bz2-", "drm", "drm-amdgpu", "edit", "elf", "ffi", "fmt", "icu"),
    *("lzma", "md", "mnl", "nl-3-", "nl-genl-3-", "numa", "protobuf", "sqlite3-", "tinfo", "xml2-", "z3-"),
    "zstd",
)
#: Patterns of the packages that stay with the system: what a compiler and scripts need, and what their libraries do.
SYSTEM = (
    *("binutils", "file", "kmod", "lib*-perl", "lib32*", "libc6*", "libcurl4*", "libdrm-common"),
    *(
        "libdrm-dev",
        "libgcc-*",
        "libgomp1",
        "libobjc-*",
        "libpfm4",
        "libstdc++*",
        "llvm-*-linker-tools",
        "pciutils",
        "perl",
    ),
    "python3*",
)
_VERSION = r"-?[0-9][0-9.]*(?:t64)?"

RULES = (
    LayoutRule(r"(?:clang|clang-tools|lld|llvm)-[0-9]+", "amd-llvm", "run", LLVM),
    LayoutRule(r"llvm-[0-9]+-runtime", "amd-llvm", "run", LLVM),
    LayoutRule(rf"lib(?:llvm|clang-cpp|clang1){_VERSION}", "amd-llvm", "lib", LLVM),
    LayoutRule(r"libclang-common-[0-9]+-dev", "amd-llvm", "lib", LLVM),
    LayoutRule(r"libclang-rt-[0-9]+-dev", "amd-llvm", "dev", LLVM),
    LayoutRule(r"rocm-device-libs-[0-9]+", "amd-llvm", "lib", LLVM),
    LayoutRule(r"hipcc|hip-utils", "core-hip", "run", HIP),
    LayoutRule(r"hipify-perl", "hipify", "run", "compiler/hipify/stage"),
    LayoutRule(r"rocm-opencl-icd", "core-ocl", "lib", "core/ocl-clr/stage"),
    LayoutRule(r"rocminfo", "core-runtime", "run", "core/rocminfo/stage"),
    LayoutRule(r"rocm-smi", "base", "run", SMI),
    LayoutRule(r"rocm-cmake", "base", "dev", "base/rocm-cmake/stage"),
    LayoutRule(r"rocm-dev", "base", "dev", "base/rocm-core/stage"),
    LayoutRule(r"(?:python3-)?amd-?smi(?:lib)?", "core-amdsmi", "run", "core/amdsmi/stage"),
    LayoutRule(r"amd-dbgapi-dev", "amd-dbgapi", "dev", "debug-tools/amd-dbgapi/stage"),
    LayoutRule(r"migraphx(?:-tools)?", "migraphx", "run", "ml-libs/migraphx/stage"),
    LayoutRule(r"migraphx-dev", "migraphx", "dev", "ml-libs/migraphx/stage"),
    *(
        rule
        for stem, (artifact, base) in sorted(_STEMS.items())
        for rule in (
            LayoutRule(rf"lib(?:{stem}){_VERSION}(?:-(?:data|hip|ocl))?", artifact, "lib", base),
            LayoutRule(rf"lib(?:{stem})(?:{_VERSION})?-dev", artifact, "dev", base),
        )
    ),
    *(LayoutRule(rf"lib{stem}(?:{_VERSION})?", "sysdeps", "lib", SYSDEPS) for stem in _SYSTEM_LIBRARIES),
    LayoutRule(r"libxml2|zlib1g", "sysdeps", "lib", SYSDEPS),
)

#: Where Debian has a path -> where a ROCm prefix has it. The first that matches counts.
PREFIXES = (
    (r"(?:usr/)?lib/[a-z0-9_]+-linux-gnu(?:abi[a-z0-9]+)?/", "lib/"),
    (r"usr/lib/llvm-[0-9]+/", "lib/llvm/"),
    (r"(?:usr/)?lib/", "lib/"),
    (r"usr/(?=bin/|include/|libexec/|share/)", ""),
)
#: A directory that programs look for by Debian's name, which has its version: `hipcc` the compiler.
VERSIONED = re.compile(r"usr/(?P<name>lib/(?P<plain>llvm)-[0-9]+)/")
#: Parts of packages that no ROCm prefix has, by their path in it. The licences in `share/doc` are seen to elsewhere.
UNWANTED = (
    "lib/binfmt.d/",
    "share/applications/",
    "share/bash-completion/",
    "share/binfmts/",
    "share/bug/",
    "share/doc-base/",
    "share/doc/",
    "share/gdb/",
    "share/lintian/",
    "share/man/",
    "share/metainfo/",
)

#: Files for GPU targets, and how their names say which: `Kernels.so-000-gfx90a-xnack+.hsaco`. Features go with their
#: target.
TARGET_SUFFIXES = (".co", ".dat", ".hsaco", ".kdb", ".model", ".txt")
TARGET_IN_NAME = re.compile(r"(?<![^-_.])gfx[0-9]{2,3}[0-9a-f](?=[-_.])")


def is_of_system(package: str, system: Sequence[str]) -> bool:
    """Whether a package stays with the system: a pattern matches it."""
    return any(fnmatchcase(package, pattern) for pattern in system)


def rule_of(package: str, system: Sequence[str] = ()) -> LayoutRule | None:
    """Return the rule for a package of ROCm; None if there is none, or if a pattern of `system` matches it."""
    return None if is_of_system(package, system) else next((rule for rule in RULES if rule.matches(package)), None)


def plain_rule_of(package: str, system: Sequence[str] = ()) -> LayoutRule | None:
    """Return the rule for a package of any SDK, an artifact of its own; None if a pattern of `system` matches it."""
    if is_of_system(package, system):
        return None
    component = "dev" if package.endswith("-dev") else "lib" if package.startswith("lib") else "run"
    return LayoutRule(re.escape(package), package, component, "stage")
