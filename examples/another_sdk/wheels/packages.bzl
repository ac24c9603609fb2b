"""The packages of Arrow, as data, and a loop that declares them."""

load("@rules_rocm_python//rules:sdk.bzl", "sdk_index", "sdk_package", "sdk_reports", "sdk_runtime", "sdk_static_wheel", "sdk_wheel")

# Name -> the libraries that it contains, and the packages whose libraries they need, directly or not.
_RUNTIME = {
    "core": struct(libraries = ["libarrow"], needs = []),
    "compute": struct(libraries = ["libarrow_compute", "libarrow_acero"], needs = ["core"]),
    "parquet": struct(libraries = ["libparquet"], needs = ["core"]),
    "dataset": struct(
        libraries = ["libarrow_dataset", "libarrow_substrait"],
        needs = ["core", "compute", "parquet"],
    ),
    "flight": struct(libraries = ["libarrow_flight", "libarrow_s3"], needs = ["core"]),
}

# Libraries that Arrow opens if a system has them, and does without if not. Other names fail the test of the wheels.
OPENED_LIBRARIES = {
    "libcrypto.so.*": "the S3 client looks which versions of OpenSSL a system has; it contains its own",
    "libhdfs.so": "only programs that read from HDFS need it",
    "libjvm.so": "as libhdfs.so",
    "libnuma.so*": "the S3 client places its buffers better if a system has it",
}

_COMMON = dict(
    description = "README.md",
    license_expression = "Apache-2.0",
    license_files = ["//:licenses"],
    version = "//:version",
)

def _requires(names):
    return ["arrow-sdk-{}=={{version}}".format(name) for name in names]

def _package(name, artifacts, needs, rpath, files = {}, import_name = "", summary = "", **kwargs):
    sdk_package(
        name = name,
        package = name,
        artifacts = [artifact.label for artifact in artifacts],
        builds_on = needs,
        rpath = rpath,
        tree = "_arrow_sdk_" + name,
        **kwargs
    )
    sdk_wheel(
        name = name + "_wheel",
        distribution = "arrow-sdk-" + name,
        files = files,
        import_name = import_name,
        package = name,
        platform_tag = "//:platform_tag",
        requires = _requires(needs),
        summary = summary,
        **_COMMON
    )

def arrow_packages(artifacts):
    """Declares the packages, and `dist` with all of them.

    Args:
        artifacts: list of struct(name, component, target, label).
    """
    for name, one in _RUNTIME.items():
        _package(
            name,
            artifacts,
            one.needs,
            include = ["lib/{}.so.*".format(library) for library in one.libraries],
            rpath = ["_arrow_sdk_{}/lib".format(searched) for searched in [name] + one.needs],
            summary = "Apache Arrow: " + name,
        )
    _package(
        "devel",
        artifacts,
        _RUNTIME.keys(),
        files = {"@rules_rocm_python//rules/runtime:devel_tree.py": "arrow_sdk_devel/__init__.py"},
        import_name = "arrow_sdk_devel",
        kind = "devel",
        rpath = ["_arrow_sdk_devel/lib"],
        summary = "Apache Arrow: headers, and all that building against it needs",
    )
    sdk_static_wheel(
        name = "arrow_sdk",
        distribution = "arrow-sdk",
        extras = {name: _requires([name]) for name in ["devel", "flight"]},
        files = sdk_runtime(
            name = "libraries",
            directory = "arrow_sdk",
            packages = {name: "arrow-sdk-" + name for name in _RUNTIME},
            version = "//:version",
        ),
        requires = _requires(["dataset"]),
        summary = "Apache Arrow",
        **_COMMON
    )
    sdk_reports(
        name = "reports",
        wheels = {name: name + "_wheel" for name in _RUNTIME.keys() + ["devel"]},
    )
    sdk_index(
        name = "dist",
        distributions = [name + "_wheel" for name in _RUNTIME.keys() + ["devel"]] + ["arrow_sdk"],
        title = "Apache Arrow for Python",
    )
