"""Which Debian packages are taken, and what becomes of them: the data behind `rocm.debian`.

`artifacts.debian` takes packages of any SDK. It needs no table: `plain_rule_of` makes an artifact of each.

Names of packages are regular expressions, matched as a whole, because they carry versions that differ from suite to
suite (libamdhip64-5, libamdhip64-6). The first rule that matches counts; packages that none matches are the system's
own (libc, Python), and stay with it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True)
class LayoutRule:
    """What becomes of the packages that `pattern` matches."""

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


_RUNTIME = (
    "hipcc",
    "libamd-comgr-dev",
    "libamdhip64-dev",
    "libhsa-runtime-dev",
    "rocm-smi",
    "rocminfo",
)
_SMALL_LIBRARIES = ("libhipfft-dev", "libhiprand-dev", "librocfft-dev", "librocrand-dev")
_BIG_LIBRARIES = (
    # Of AMD SMI the library only: its program needs Python libraries of the system.
    "libamd-smi-dev",
    "libhipblas-dev",
    "libhipblaslt-dev",
    "libhipcub-dev",
    "libhipsolver-dev",
    "libhipsparse-dev",
    "libhipsparselt-dev",
    "libmiopen-dev",
    "librccl-dev",
    "librocblas-dev",
    "librocprim-dev",
    "librocsolver-dev",
    "librocsparse-dev",
    "librocthrust-dev",
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

#: Libraries by the artifact that they belong to.
LIBRARIES = {
    "blas": ("hipblas", "hipblaslt", "hipsolver", "hipsparse", "hipsparselt", "rocblas", "rocsolver", "rocsparse"),
    "fft": ("hipfft", "rocfft"),
    "miopen": ("miopen",),
    "rand": ("hiprand", "rocrand"),
    "rccl": ("rccl",),
}

#: System libraries that come along, so that the wheels run where they are missing or too old.
_SYSTEM_LIBRARIES = (
    "libbsd",
    "libdrm",
    "libdrm-amdgpu",
    "libedit",
    "libelf",
    "libffi",
    "libfmt",
    "libicu",
    "liblzma",
    "libmd",
    "libnuma",
    "libsqlite3-",
    "libtinfo",
    "libxml2-",
    "libz3-",
    "libzstd",
)
_VERSION = r"[0-9][0-9.]*(?:t64)?"

RULES = (
    LayoutRule(r"(?:clang|clang-tools|lld|llvm)-[0-9]+", "amd-llvm", "run", LLVM),
    # Not llvm-N-linker-tools: plugins of linkers that the packages do not have.
    LayoutRule(r"llvm-[0-9]+-runtime", "amd-llvm", "run", LLVM),
    LayoutRule(rf"lib(?:llvm|clang-cpp|clang1-){_VERSION}", "amd-llvm", "lib", LLVM),
    LayoutRule(r"libclang-common-[0-9]+-dev", "amd-llvm", "lib", LLVM),
    LayoutRule(r"libclang-rt-[0-9]+-dev", "amd-llvm", "dev", LLVM),
    LayoutRule(r"rocm-device-libs-[0-9]+", "amd-llvm", "lib", LLVM),
    LayoutRule(rf"libamd-comgr{_VERSION}", "amd-llvm", "lib", COMGR),
    LayoutRule(r"libamd-comgr-dev", "amd-llvm", "dev", COMGR),
    LayoutRule(rf"lib(?:amdhip64|hiprtc|hiprtc-builtins)-?{_VERSION}", "core-hip", "lib", HIP),
    LayoutRule(r"libamdhip64-dev", "core-hip", "dev", HIP),
    LayoutRule(r"hipcc", "core-hip", "run", HIP),
    LayoutRule(rf"libhs(?:a-runtime64-|akmt){_VERSION}", "core-runtime", "lib", RUNTIME),
    LayoutRule(r"libhs(?:a-runtime|akmt)-dev", "core-runtime", "dev", RUNTIME),
    LayoutRule(r"rocminfo", "core-runtime", "run", "core/rocminfo/stage"),
    LayoutRule(r"rocm-smi", "base", "run", SMI),
    LayoutRule(rf"librocm-(?:smi64-|core){_VERSION}", "base", "lib", SMI),
    LayoutRule(r"librocm-(?:smi|core)-dev", "base", "dev", SMI),
    LayoutRule(rf"librocprofiler-register{_VERSION}", "base", "lib", "base/rocprofiler-register/stage"),
    LayoutRule(r"librocprofiler-register-dev", "base", "dev", "base/rocprofiler-register/stage"),
    LayoutRule(r"(?:python3-)?amd-?smi(?:lib)?", "core-amdsmi", "run", "core/amdsmi/stage"),
    LayoutRule(r"libamd-?smi-dev", "core-amdsmi", "dev", "core/amdsmi/stage"),
    LayoutRule(rf"libamd-?smi{_VERSION}", "core-amdsmi", "lib", "core/amdsmi/stage"),
    LayoutRule(r"lib(?:hipcub|rocprim|rocthrust)-dev", "prim", "dev", "math-libs/prim/stage"),
    LayoutRule(r"librocwmma-dev", "rocwmma", "dev", "math-libs/rocWMMA/stage"),
    *(
        rule
        for artifact, libraries in sorted(LIBRARIES.items())
        for library in libraries
        for rule in (
            LayoutRule(rf"lib{library}{_VERSION}(?:-data)?", artifact, "lib", f"math-libs/{library}/stage"),
            LayoutRule(rf"lib{library}-dev", artifact, "dev", f"math-libs/{library}/stage"),
        )
    ),
    *(LayoutRule(rf"{name}(?:{_VERSION})?", "sysdeps", "lib", SYSDEPS) for name in _SYSTEM_LIBRARIES),
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


def rule_of(package: str) -> LayoutRule | None:
    """Return the rule for a package of ROCm; None if it stays with the system."""
    return next((rule for rule in RULES if rule.matches(package)), None)


def plain_rule_of(package: str, system: Sequence[str] = ()) -> LayoutRule | None:
    """Return the rule for a package of any SDK, an artifact of its own; None if a pattern of `system` matches it."""
    if any(fnmatchcase(package, pattern) for pattern in system):
        return None
    component = "dev" if package.endswith("-dev") else "lib" if package.startswith("lib") else "run"
    return LayoutRule(re.escape(package), package, component, "stage")
