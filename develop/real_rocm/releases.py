"""Lists Debian's packages that make a real ROCm, with the artifact of a ROCm build that each becomes.

`RELEASES` says what is fetched, `RULES` where it goes. Base directories are named as ROCm's own build does it, with
`libs/` for the math libraries; tests name paths in them. `tools/fetch/debian` packages Debian's ROCm for its users: it
leaves out what Debian has beside the libraries. This is input for tests.
"""

from dataclasses import dataclass

from tools.fetch.debian.table import COMGR, HIP, LLVM, RUNTIME, SMI, SYSDEPS, LayoutRule

#: Of ROCm 5.7 and 7 alike.
_COMMON = (
    *(
        "hipcc",
        "libamd-comgr-dev",
        "libamdhip64-dev",
        "libhsa-runtime-dev",
        "libhsa-runtime64-1",
        "rocm-smi",
        "rocminfo",
    ),
    *("libhipfft-dev", "libhipfft0", "libhiprand-dev", "libhiprand1"),
    *("librocfft-dev", "librocfft0", "librocrand-dev", "librocrand1"),
)
_COMMON_SYSTEM = (
    *("libbsd0", "libdrm-amdgpu1", "libdrm2", "libedit2", "libelf1t64", "libffi8", "liblzma5", "libmd0", "libnuma1"),
    *("libsqlite3-0", "libtinfo6", "libz3-4", "libzstd1", "zlib1g"),
)


@dataclass(frozen=True)
class Release:
    """A ROCm that Debian packages."""

    number: int
    #: Where its packages are; of a package that several have, the newest is taken.
    suites: tuple[str, ...]
    #: The major version of its compiler.
    llvm: int
    #: The family of all its GPU targets, for artifacts whose libraries have code for all.
    family: str
    #: What the build says that it is for.
    targets: tuple[str, ...]
    packages: tuple[str, ...]
    #: Packages of the biggest libraries.
    big: tuple[str, ...]
    #: Libraries of the system that come along, so that the rest runs wherever libc is new enough.
    system: tuple[str, ...]

    def names(self, *, small: bool) -> list[str]:
        """List the packages to fetch, sorted; `small` leaves the biggest libraries out."""
        return sorted({*self.packages, *self.system, *(() if small else self.big)})


RELEASES = {
    # Device code is not compressed; ten GPU targets, for which every library has code.
    5: Release(
        number=5,
        suites=("trixie",),
        llvm=17,
        family="gfx9-all",
        targets=("gfx803", "gfx900", "gfx906", "gfx1030"),
        packages=(
            *_COMMON,
            *("libamd-comgr2", "libamdhip64-5", "librocm-smi64-1"),
            *("clang-17", "libclang-common-17-dev", "libclang-cpp17t64", "libllvm17t64", "lld-17", "llvm-17"),
            "rocm-device-libs-17",
        ),
        big=(
            *("libhipblas-dev", "libhipblas0", "libhipsparse-dev", "libhipsparse0", "librccl-dev", "librccl1"),
            *(
                "librocblas-dev",
                "librocblas0",
                "librocsolver-dev",
                "librocsolver0",
                "librocsparse-dev",
                "librocsparse0",
            ),
        ),
        system=(*_COMMON_SYSTEM, "libfmt10", "libhsakmt1", "libicu76", "libxml2"),
    ),
    # Compressed bundles; fifteen GPU targets, not all of which every library has code for; features (xnack).
    7: Release(
        number=7,
        suites=("sid", "experimental"),
        llvm=22,
        family="gfx-all",
        targets=(
            *("gfx942", "gfx950", "gfx90a", "gfx908", "gfx1100", "gfx1101", "gfx1102", "gfx1151", "gfx1200", "gfx1201"),
            *("gfx1030", "gfx1010", "gfx906", "gfx900", "gfx803"),
        ),
        packages=(
            *_COMMON,
            *("hip-utils", "hipify-perl", "libamd-comgr3", "libamdhip64-7", "libhiprtc-builtins7", "libhiprtc7"),
            *("libhsa-amd-aqlprofile64-1", "librocm-core1", "librocm-dbgapi0", "librocm-smi64-7", "rocm-opencl-icd"),
            *("librocprofiler-register-0", "libroctx64-4"),
            *("clang-22", "clang-tools-22", "libclang-common-22-dev", "libclang-cpp22", "libclang1-22", "libllvm22"),
            *("libclang-rt-22-dev", "lld-22", "llvm-22", "rocm-device-libs-22"),
            *("libhipcub-dev", "librocprim-dev", "librocthrust-dev"),
            *("libhipfftw0", "libhipsparselt-dev", "libhipsparselt0", "libmiopen-dev", "libmiopen1"),
        ),
        big=(
            *("libhipblas-common-dev", "libhipblas-dev", "libhipblas3", "libhipblaslt-dev", "libhipblaslt1"),
            *("libhipsolver-dev", "libhipsolver1", "libhipsparse-dev", "libhipsparse4", "librccl-dev", "librccl1"),
            *("librocalution1", "librocblas-dev", "librocblas5", "librocsolver-dev", "librocsolver0"),
            *("librocsparse-dev", "librocsparse1"),
        ),
        system=(
            *_COMMON_SYSTEM,
            *("libboost-atomic1.90.0", "libboost-filesystem1.90.0", "libbz2-1.0", "libfmt11", "libgflags2.2"),
            *("libgomp1", "libgoogle-glog0v6t64", "libicu78", "libunwind8", "libxml2-16"),
        ),
    ),
}

#: The math libraries, by the artifact that they belong to. Their device code may be in artifacts of its own.
LIBRARIES = {
    "blas": (
        *("hipblas", "hipblas-common", "hipblaslt", "hipsolver", "hipsparse", "hipsparselt"),
        *("rocalution", "rocblas", "rocsolver", "rocsparse"),
    ),
    "fft": ("hipfft", "hipfftw", "rocfft"),
    "miopen": ("miopen",),
    "rand": ("hiprand", "rocrand"),
    "rccl": ("rccl",),
}

RULES = (
    LayoutRule(r"(clang|clang-tools|lld|llvm)-\d+", "amd-llvm", "run", LLVM),
    LayoutRule(
        r"lib(llvm|clang-cpp|clang1-)\d+(t64)?|libclang-common-\d+-dev|rocm-device-libs-\d+", "amd-llvm", "lib", LLVM
    ),
    LayoutRule(r"libclang-rt-\d+-dev", "amd-llvm", "dev", LLVM),
    LayoutRule(r"libamd-comgr\d", "amd-llvm", "lib", COMGR),
    LayoutRule(r"libamd-comgr-dev", "amd-llvm", "dev", COMGR),
    LayoutRule(r"libamdhip64-\d|libhiprtc(-builtins)?\d", "core-hip", "lib", HIP),
    LayoutRule(r"libamdhip64-dev", "core-hip", "dev", HIP),
    LayoutRule(r"hipcc|hip-utils", "core-hip", "run", HIP),
    LayoutRule(r"hipify-perl", "hipify", "run", "compiler/hipify/stage"),
    LayoutRule(r"rocm-opencl-icd", "core-ocl", "lib", "core/ocl/stage"),
    LayoutRule(r"libhsa-runtime64-1", "core-runtime", "lib", RUNTIME),
    LayoutRule(r"libhsa-runtime-dev", "core-runtime", "dev", RUNTIME),
    LayoutRule(r"rocminfo", "core-runtime", "run", "core/rocminfo/stage"),
    LayoutRule(r"libhsa-amd-aqlprofile64-1", "aqlprofile", "lib", "profiler/aqlprofile/stage"),
    LayoutRule(r"librocm-dbgapi0", "amd-dbgapi", "lib", "debug/dbgapi/stage"),
    LayoutRule(r"librocprofiler-register-0|libroctx64-4", "rocprofiler-sdk", "lib", "profiler/register/stage"),
    LayoutRule(r"librocm-smi64-\d", "base", "lib", SMI),
    LayoutRule(r"rocm-smi", "base", "run", SMI),
    LayoutRule(r"librocm-core1", "base", "lib", "base/rocm-core/stage"),
    LayoutRule(r"lib(hipcub|rocprim|rocthrust)-dev", "prim", "dev", "libs/prim/stage"),
    *(
        rule
        for artifact, libraries in LIBRARIES.items()
        for library in libraries
        for rule in (
            LayoutRule(rf"lib{library}\d", artifact, "lib", f"libs/{library}/stage"),
            LayoutRule(rf"lib{library}-dev", artifact, "dev", f"libs/{library}/stage"),
        )
    ),
)
SYSTEM = LayoutRule("", "sysdeps", "lib", SYSDEPS)

#: Parts of packages that no ROCm build has, by their path in the install prefix.
UNWANTED = (
    *("include/clang/", "lib/clang/", "lib/cmake/clang-", "lib/rocm_sysdeps/share/"),
    *("share/bash-completion/", "share/bug/", "share/doc/", "share/lintian/", "share/man/"),
)
#: Files that two packages have, each its own: (the package whose file is left out, path). hipBLASLt 7.2.4 has it, too.
DUPLICATES = {("libhipsparselt-dev", "lib/liborigami.a")}


def rule_of(package: str, release: Release) -> LayoutRule:
    """Return where a package of a release goes. Raises KeyError if the release does not have the package."""
    if package in release.system:
        return SYSTEM
    for rule in RULES:
        if rule.matches(package):
            return rule
    raise KeyError(f"{package}: no rule says where it goes; add one to develop/real_rocm/releases.py")
