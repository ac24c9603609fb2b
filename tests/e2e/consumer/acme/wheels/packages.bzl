"""acme_packages: what is packaged, and how it is called."""

load("@rules_rocm_python//rules:rocm.bzl", "rocm_coverage")
load("@rules_rocm_python//rules:sdk.bzl", "sdk_index", "sdk_package", "sdk_static_wheel", "sdk_wheel")

# Where the loader searches, in this order: the packages' trees lie side by side in site-packages.
_RPATH = {
    "core": ["_acme_sdk_core/runtime/lib64"],
    "devel": [
        "_acme_sdk_devel/math/lib64",
        "_acme_sdk_devel/runtime/lib64",
    ],
    "tools": [
        "_acme_sdk_tools/math/lib64",
        "_acme_sdk_core/runtime/lib64",
    ],
}

# Which components of which artifacts.
_ARTIFACTS = {
    "core": {"lib": ["runtime"], "run": ["units"]},
    "devel": {component: ["math", "runtime", "tools"] for component in ["dev", "lib", "run"]},
    "tools": {"lib": ["math"], "run": ["tools"]},
}

_COMMON = dict(
    description = "README.md",
    license_expression = "ISC",
    license_files = ["//:LICENSE"],
    requires_python = ">=3.9",
    version = "//:version",
)

def _package(name, artifacts, builds_on = [], kind = "runtime"):
    sdk_package(
        name = name,
        package = name,
        artifacts = [one.label for one in artifacts if one.name in _ARTIFACTS[name].get(one.component, [])],
        builds_on = builds_on,
        kind = kind,
        rpath = _RPATH[name],
        tree = "_acme_sdk_" + name,
    )

def _wheel(name, modules, files = {}, **kwargs):
    sdk_wheel(
        name = name + "_wheel",
        distribution = "acme-sdk-" + name,
        files = files | {"acme_sdk_{}/{}".format(name, module): "acme_sdk_{}/{}".format(name, module) for module in modules},
        import_name = "acme_sdk_" + name,
        package = name,
        platform_tag = "//:platform_tag",
        **(_COMMON | kwargs)
    )

def acme_packages(artifacts):
    """Declares the packages of the SDK, `dist` with all of them, and what is known of its device code: it has none.

    Args:
        artifacts: list of struct(name, component, target, label).
    """
    rocm_coverage(
        name = "coverage",
        artifacts = [one.label for one in artifacts],
    )
    _package("core", artifacts)
    _wheel(
        "core",
        ["__init__.py"],
        license_patterns = ["share/licenses/**"],
        summary = "Acme SDK: runtime",
    )
    _package("tools", artifacts, builds_on = ["core"])
    _wheel(
        "tools",
        ["__init__.py", "_cli.py"],
        console_scripts = "acme_sdk_tools/console_scripts.json",
        requires = ["acme-sdk-core=={version}"],
        summary = "Acme SDK: libraries and programs",
    )
    _package("devel", artifacts, builds_on = ["core", "tools"], kind = "devel")
    _wheel(
        "devel",
        [],
        files = {"@rules_rocm_python//rules/runtime:devel_tree.py": "acme_sdk_devel/__init__.py"},
        requires = ["acme-sdk-tools=={version}"],
        summary = "Acme SDK: headers, and all that building against it needs",
    )
    sdk_static_wheel(
        name = "acme_sdk",
        distribution = "acme-sdk",
        extras = {"devel": ["acme-sdk-devel=={version}"]},
        requires = ["acme-sdk-tools=={version}"],
        summary = "Acme SDK",
        **_COMMON
    )
    sdk_index(
        name = "dist",
        distributions = ["core_wheel", "tools_wheel", "devel_wheel", "acme_sdk"],
        title = "Acme SDK for Python",
    )
