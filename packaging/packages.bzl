"""The packages of ROCm, as data.

Facts only. `rocm_packages.bzl` makes targets of them; another SDK has a file like this of its own.
"""

visibility(["//packaging", "//tests/..."])

# What a package consists of, and what its distribution says of itself. Roles name packages.
#
#   distribution, import_name   with `-TARGET` and `_TARGET` after them if there is one per GPU target
#   summary                     with ` for TARGET` after it, likewise
#   artifacts                   component -> names of artifacts; a name that ends in `*` matches a prefix
#   include, exclude            patterns of the files that it takes alone (all, if there are none), and does not take
#   builds_on                   roles of the packages that have what this one need not have; DEVEL's depend on the layout
#   requires                    roles of the distributions that it requires, in its own version
#   rpath                       directories that the loader searches, in this order, each as `role/path`; not on Windows
#   modules                     files of its Python code, in `ROLE/src/IMPORT_NAME`
#   names                       key -> role whose tree `_package.json` beside the modules names; none without keys
#   tree                        role of the package whose tree it is part of, if not its own
def _package(
        distribution,
        summary,
        rpath,
        import_name = "",
        artifacts = {},
        exclude = [],
        include = [],
        builds_on = [],
        requires = [],
        modules = ["__init__.py"],
        names = {},
        tree = "",
        kind = "runtime"):
    return struct(
        artifacts = artifacts,
        builds_on = builds_on,
        distribution = distribution,
        exclude = exclude,
        import_name = import_name,
        include = include,
        kind = kind,
        modules = modules,
        names = names,
        requires = requires,
        rpath = rpath,
        summary = summary,
        tree = tree,
    )

# `_cli.py` has a function for each of the console scripts.
_WITH_SCRIPTS = ["__init__.py", "_cli.py", "console_scripts.json"]

# Python packages in the tree that users import.
PYTHON_PACKAGES = "python_packages.json"

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

# Without one of these artifacts, there is no profiler.
PROFILERS = ["rocprofiler-compute", "rocprofiler-systems"]

# The profiler's files, in any artifact: rocprofiler-sdk's also have some.
_PROFILER_FILES = [
    "bin/rocprof-*",
    "include/rocprofiler-systems/**",
    "lib/libprofiler-hub*",
    "lib/librocprof-sys*",
    "lib/python*/site-packages/rocprof_trace_decoder/**",
    "lib/python*/site-packages/rocprofsys/**",
    "lib/rocprofiler-compute/**",
    "lib/rocprofiler-systems/**",
    "libexec/rocprofiler-compute/**",
    "libexec/rocprofiler-systems/**",
    "share/**/rocprofiler-compute/**",
    "share/**/rocprofiler-systems/**",
]

PACKAGES = {
    "core": _package(
        artifacts = {
            "dev": ["core-hip", "core-ocl"],
            "lib": _CORE + ["rocjitsu-hotswap"],
            "run": _CORE,
        },
        distribution = "rocm-sdk-core",
        # CMake files are for developers.
        exclude = ["**/cmake/**"] + _PROFILER_FILES,
        import_name = "rocm_sdk_core",
        modules = _WITH_SCRIPTS + ["_dist_info.py", PYTHON_PACKAGES],
        names = {"tree": "core"},
        rpath = ["core/lib", "core/lib/llvm/lib", "core/lib/rocm_sysdeps/lib"],
        summary = "ROCm: runtime, compiler and tools",
    ),
    "libraries": _package(
        artifacts = {"lib": _LIBRARIES},
        builds_on = ["core"],
        distribution = "rocm-sdk-libraries",
        import_name = "rocm_sdk_libraries",
        requires = ["core"],
        rpath = [
            "libraries/lib",
            "core/lib",
            "core/lib/rocm_sysdeps/lib",
            "core/lib/host-math/lib",
            "core/lib/llvm/lib",
        ],
        summary = "ROCm: math, communication and machine-learning libraries",
    ),
    "device": _package(
        artifacts = {"lib": _LIBRARIES},
        builds_on = ["core", "libraries"],
        distribution = "rocm-sdk-device",
        requires = ["libraries"],
        rpath = ["libraries/lib", "core/lib", "core/lib/rocm_sysdeps/lib"],
        summary = "ROCm: device code of the libraries",
        tree = "libraries",
    ),
    "profiler": _package(
        artifacts = {"lib": PROFILERS + ["rocprofiler-sdk"], "run": PROFILERS},
        builds_on = ["core"],
        distribution = "rocm-profiler",
        import_name = "rocm_profiler",
        include = _PROFILER_FILES,
        modules = _WITH_SCRIPTS + [PYTHON_PACKAGES],
        names = {"core_tree": "core", "tree": "profiler"},
        requires = ["core"],
        rpath = ["profiler/lib", "core/lib", "core/lib/llvm/lib", "core/lib/rocm_sysdeps/lib"],
        summary = "ROCm: profilers for compute kernels and whole systems",
    ),
    "devel": _package(
        distribution = "rocm-sdk-devel",
        import_name = "rocm_sdk_devel",
        kind = "devel",
        requires = ["core"],
        rpath = ["devel/lib", "devel/lib/llvm/lib", "devel/lib/rocm_sysdeps/lib"],
        summary = "ROCm: headers, CMake files and all that building against it needs",
    ),
}

# The devel package has every component of the artifacts of core and libraries, and of these.
DEVEL_ARTIFACTS = [
    "flatbuffers",
    "hipthreads",
    "libhipcxx",
    "mirage",
    "nlohmann-json",
    "prim",
    "rocjitsu",
    "rocshmem",
    "rocwmma",
]

# What differs between the platforms that packages are for.
#
#   platform    the platform they are built for; None for the build's own, which then has to be one of `compatible_with`
#   tag         the build setting with the platform tag of their wheels
#   classifier  what their distributions say of it
#   compatible_with  constraints of the build's platform
#   externals   libraries that users' machines have to have, because no package brings them
PLATFORMS = {
    # Besides those that every manylinux system has: of the kernel's driver interfaces, of NUMA, and for reading ELF files.
    # ROCm's own builds bring them as sysdeps under names of their own; a build against a distribution's needs them from
    # there. The last two are for llvm-cov and llvm-exegesis of Debian's LLVM, which do not start without; nothing else
    # needs them.
    "linux": struct(
        classifier = "Operating System :: POSIX :: Linux",
        compatible_with = ["@platforms//os:linux"],
        externals = [
            "libdrm.so.2",
            "libdrm_amdgpu.so.1",
            "libelf.so.1",
            "libnuma.so.1",
            "libcurl.so.4",
            "libpfm.so.4",
        ],
        platform = None,
        tag = Label("//packaging:platform_tag"),
    ),
    # Microsoft's C++ runtime, which its redistributable package installs, and the driver's part of HIP.
    "windows": struct(
        classifier = "Operating System :: Microsoft :: Windows",
        compatible_with = [],
        externals = [
            "concrt140.dll",
            "msvcp140*.dll",
            "vcomp140.dll",
            "vcruntime140*.dll",
        ],
        platform = Label("//:windows_x86_64"),
        tag = Label("//packaging:windows_platform_tag"),
    ),
}

# What all distributions say of themselves.
METADATA = struct(
    classifiers = [
        "Development Status :: 4 - Beta",
        "Environment :: GPU",
        "Intended Audience :: Developers",
        "Programming Language :: Python :: 3",
        "Topic :: Software Development :: Libraries",
    ],
    # Of ROCm, its compiler, and the Python code beside them.
    license_expression = "MIT AND Apache-2.0 WITH LLVM-exception AND Apache-2.0",
    urls = {
        "Documentation": "https://rocm.docs.amd.com/",
        "Source": "https://github.com/ROCm/TheRock",
    },
)
