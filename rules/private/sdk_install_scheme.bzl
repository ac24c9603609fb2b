"""sdk_install_scheme: where the Python of a container image has its packages."""

load("//rules/private/common:providers.bzl", "InstallSchemeInfo")

visibility(["//rules"])

def _sdk_install_scheme_impl(ctx):
    return [InstallSchemeInfo(python = ctx.attr.python, scripts = ctx.attr.scripts, site_packages = ctx.attr.site_packages)]

sdk_install_scheme = rule(
    doc = "Says where the Python of a container image has its packages. All paths are those in the image.",
    implementation = _sdk_install_scheme_impl,
    attrs = {
        "python": attr.string(mandatory = True, doc = "The interpreter that console scripts start, an absolute path such as `/usr/bin/python3`."),
        "scripts": attr.string(mandatory = True, doc = "Directory of console scripts, such as `usr/local/bin`."),
        "site_packages": attr.string(mandatory = True, doc = "Directory that Python imports from, such as `usr/lib/python3/dist-packages` or `opt/venv/lib/python3.12/site-packages`."),
    },
    provides = [InstallSchemeInfo],
)
