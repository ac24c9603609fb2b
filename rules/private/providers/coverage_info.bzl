"""CoverageInfo: which library has device code for which GPU target."""

visibility(["//rules/..."])

CoverageInfo = provider(
    doc = "Which library of a set of artifacts has device code for which GPU target.",
    fields = {
        "artifacts": "dict of string to True: the artifacts, `{name}_{component}_{target}`.",
        "checked": "File: empty, and there if nothing is wrong with the table.",
        "lacks": "File: JSON object, GPU target -> the libraries without code for it; there, too, if nothing is wrong.",
        "table": "File: the coverage table; there, too, if nothing is wrong.",
        "targets": "dict of string to list of string: the packages that are offered, and their GPU targets.",
    },
)
