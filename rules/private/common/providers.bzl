"""Providers of the rules: artifacts, coverage, distributions, packages."""

visibility(["//rules/..."])

ArtifactInfo = provider(
    doc = """A piece of a build: its files, in units, and the manifest of their true names and modes.

A *unit* is the input of one inspect action and one pack action: one big file, or all
small files of the artifact.""",
    fields = {
        "archive_sha256": "string: SHA-256 of the artifact's archive, or None.",
        "artifact_name": "string: name of the artifact, such as `core-hip`.",
        "component": "string: `lib`, `run`, `dev`, `dbg`, `doc` or `test`.",
        "manifest": "File: JSON list of entries (path, kind, mode, link target).",
        "material": "File: what statements say of it (in-toto): its name, and the digest of its files.",
        "target": "string: `generic`, a GPU target, or a family of targets.",
        "units": "list of struct(id = string, unique in the build; facts = File; files = depset of File; is_big_file = bool; manifest = File that names the files; threads = number of threads for packing it).",
    },
)

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

DistributionInfo = provider(
    doc = "A finished distribution, a wheel or an sdist, with the facts that an index needs.",
    fields = {
        "digest": "File: JSON object with file name, size in bytes and SHA-256.",
        "file": "File: the wheel or sdist.",
        "metadata": "File: core metadata, served beside the distribution (PEP 658).",
        "requirement": "string: what requires just this distribution, `NAME==VERSION` (PEP 508).",
        "sbom": "File or None: its bill of materials, in CycloneDX.",
        "variant": "File or None: `variant.json` of a wheel variant (PEP 825).",
    },
)

InstallSchemeInfo = provider(
    doc = "Where the Python of a container image has its packages. Paths are those in the image.",
    fields = {
        "python": "string: the interpreter that console scripts start, an absolute path.",
        "scripts": "string: directory of console scripts, without `/` at the beginning.",
        "site_packages": "string: directory that Python imports from, without `/` at the beginning.",
    },
)

PackageInfo = provider(
    doc = "A planned and packed Python distribution, without its wheel.",
    fields = {
        "archives": "dict of string to string: artifact, `{name}_{component}_{target}` -> SHA-256 of its archive, for artifacts that were archives.",
        "big_files": "list of string: ids of the units that are one big file each and that this package packs.",
        "builds_on": "list of File: the plans of the packages that this one builds on.",
        "definition": "struct: package, kind, tree (directory in site-packages).",
        "facts": "depset of File: for each unit of its artifacts, the facts.",
        "indexes": "depset of File: for each unit, the offset and digests of each entry in its segment.",
        "plan": "File: JSON object with a list of entries: path, source, treatment and reason.",
        "segments": "depset of File: for each unit, the deflated bytes of its entries, concatenated.",
    },
)

ThinPackagesInfo = provider(
    doc = "Packages that differ in the GPU targets that they are for.",
    fields = {"packages": "dict of string to PackageInfo: by the GPU target, or the name of the group of targets."},
)
