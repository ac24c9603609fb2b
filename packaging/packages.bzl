"""What is packaged: the packages of ROCm, as data.

Facts only. `rocm_packages.bzl` makes targets of them; another SDK has a file like this of its own.
"""

visibility(["//packaging", "//tests/..."])

# A name of an artifact that ends in `*` matches a prefix. `rpath` has the directories that the loader searches,
# in this order, each as `package/path`.
_CORE = [
    "amd-dbgapi",
    "amd-llvm",
    "aqlprofile",
    "base",
    "core-amdsmi",
    "core-hip",
    "core-hipinfo",
    "core-kpack",
    "core-ocl",
    "core-runtime",
    "hipfile",
    "hipify",
    "host-blas",
    "host-suite-sparse",
    "rocdecode",
    "rocgdb",
    "rocjpeg",
    "rocprofiler-sdk",
    "rocr-debug-agent",
    "sysdeps",
    "sysdeps-*",
    "wsl-rocdxg",
]

CORE = struct(
    artifacts = {
        "dev": ["core-hip", "core-ocl"],
        "lib": _CORE + ["rocjitsu-hotswap"],
        "run": _CORE,
    },
    # CMake files are for developers; the rest is the profiler's, which rocprofiler-sdk's artifacts also carry.
    exclude = [
        "**/cmake/**",
        "bin/rocprof-*",
        "include/rocprofiler-systems/**",
        "lib/librocprof-sys*",
        "lib/python/site-packages/rocprofsys/**",
        "lib/rocprofiler-systems/**",
        "libexec/rocprofiler-systems/**",
        "share/**/rocprofiler-systems/**",
    ],
    rpath = ["core/lib", "core/lib/llvm/lib", "core/lib/rocm_sysdeps/lib"],
)

_LIBRARIES = [
    "blas",
    "fft",
    "hipblasltprovider",
    "hipdnn",
    "hipkernelprovider",
    "miopen",
    "miopenprovider",
    "rand",
    "rccl",
    "rpp",
]

LIBRARIES = struct(
    artifacts = {"lib": _LIBRARIES},
    exclude = [],
    rpath = [
        "libraries/lib",
        "core/lib",
        "core/lib/rocm_sysdeps/lib",
        "core/lib/host-math/lib",
        "core/lib/llvm/lib",
    ],
)

DEVICE = struct(
    artifacts = {"lib": _LIBRARIES},
    exclude = [],
    rpath = ["libraries/lib", "core/lib", "core/lib/rocm_sysdeps/lib"],
)

_PROFILER = ["rocprofiler-compute", "rocprofiler-systems"]

PROFILER = struct(
    artifacts = {"lib": _PROFILER, "run": _PROFILER},
    exclude = [],
    rpath = ["profiler/lib", "core/lib", "core/lib/llvm/lib", "core/lib/rocm_sysdeps/lib"],
)

# Every component of what the other packages are made from, and of these.
DEVEL = struct(
    additional_artifacts = [
        "flatbuffers",
        "hipthreads",
        "libhipcxx",
        "mirage",
        "nlohmann-json",
        "prim",
        "rocjitsu",
        "rocshmem",
        "rocwmma",
    ],
    rpath = ["devel/lib", "devel/lib/llvm/lib", "devel/lib/rocm_sysdeps/lib"],
)

# Libraries that users' machines have to have, because no package brings them, besides those that every manylinux system
# has: of the kernel's driver interfaces, of NUMA, and for reading ELF files. ROCm's own builds bring them as sysdeps
# under names of their own; a build against a distribution's needs them from there. The last two are for llvm-cov and
# llvm-exegesis of Debian's LLVM, which do not start without; nothing else needs them.
EXTERNALS = [
    "libdrm.so.2",
    "libdrm_amdgpu.so.1",
    "libelf.so.1",
    "libnuma.so.1",
    "libcurl.so.4",
    "libpfm.so.4",
]

# What all distributions say of themselves.
METADATA = struct(
    classifiers = [
        "Development Status :: 4 - Beta",
        "Environment :: GPU",
        "Intended Audience :: Developers",
        "Operating System :: POSIX :: Linux",
        "Programming Language :: Python :: 3",
        "Topic :: Software Development :: Libraries",
    ],
    # Of ROCm, its compiler, and the Python code beside them.
    license_expression = "MIT AND Apache-2.0 WITH LLVM-exception AND Apache-2.0",
    # Where ROCm's components and Debian's packages install their licence texts.
    license_patterns = [
        "share/doc/**/COPYING*",
        "share/doc/**/LICENSE*",
        "share/doc/**/NOTICE*",
        "share/doc/**/copyright",
    ],
    urls = {
        "Documentation": "https://rocm.docs.amd.com/",
        "Issues": "https://github.com/ROCm/TheRock/issues",
        "Source": "https://github.com/ROCm/TheRock",
    },
)
