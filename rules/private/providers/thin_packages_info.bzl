"""ThinPackagesInfo: Python distributions for different GPU targets, made from the same artifacts."""

visibility(["//rules/..."])

ThinPackagesInfo = provider(
    doc = "Packages that differ in the GPU targets that they are for.",
    fields = {"packages": "dict of string to PackageInfo: by the GPU target, or the name of the group of targets."},
)
