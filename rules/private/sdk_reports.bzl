"""sdk_reports: targets for what a build reports of packages."""

visibility(["//rules"])

_REPORTS = ["plan", "platform_tag", "sbom"]

def sdk_reports(name, wheels, **kwargs):
    """Declares a target for each report of each package, so that you need no `--output_groups`.

    `PACKAGE_plan` says what happens to each file, `PACKAGE_platform_tag` what the wheel needs of a system,
    and `PACKAGE_sbom` is its bill of materials (CycloneDX).

    Args:
        name: name of a target that has all of them.
        wheels: {name of a package: label of its `sdk_wheel`}.
        **kwargs: further attributes of the targets, such as `visibility`.
    """
    for package, wheel in wheels.items():
        for report in _REPORTS:
            native.filegroup(name = "{}_{}".format(package, report), srcs = [wheel], output_group = report, **kwargs)
    native.filegroup(
        name = name,
        srcs = ["{}_{}".format(package, report) for package in wheels for report in _REPORTS],
        **kwargs
    )
