"""What others say of our wheels' platform tags and bills of materials: auditwheel, and CycloneDX's JSON schema.

    python -m tests.e2e.validators.opinions --reports DIR WHEEL…

Run it from the top of the workspace, with an interpreter that has what requirements.txt locks: validate.py does. DIR
has the reports of //packaging:platform_tags. Of each wheel it prints both verdicts; the exit code is 1 if auditwheel
found a symbol version that our report lacks, or the other way round, or if a bill of materials is not valid.

Two things differ on purpose, and only these: what auditwheel calls an external library may be in another package
of the build, and it does not look into the archive of a devel wheel.
"""

import argparse
import importlib
import json
import logging
import sys
import zipfile
from collections.abc import Container
from pathlib import Path
from typing import Any

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

#: Of these auditwheel does not list the versions: glibc's loader comes with glibc.
LOADER = "ld-linux"


def report_of(wheel: Path, reports: Path) -> dict[str, Any]:
    """Return our report about a wheel."""
    name = wheel.name.split("-")[0]
    for path in sorted(reports.glob("*.platform_tag.json")):
        report: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if report["distribution"].replace("-", "_") == name:
            return report
    raise SystemExit(f"{reports}: no report about {name}; expected one from building //packaging:platform_tags")


def our_versions(report: dict[str, Any]) -> set[tuple[str, str]]:
    """Return all (library, symbol version) that we found, whoever has the library."""
    libraries = [pair for part in ("system", "packaged", "unreached", "external") for pair in report[part].items()]
    return {
        (name, version) for name, needed in libraries for version in needed if version and not name.startswith(LOADER)
    }


def our_outsiders(report: dict[str, Any], wheel: Path, guaranteed: Container[str]) -> set[str]:
    """Return the libraries that are not in the wheel, nor on all systems of a policy."""
    with zipfile.ZipFile(wheel) as archive:
        own = {name.rpartition("/")[2] for name in archive.namelist()}
    outside = (*report["system"], *report["unreached"])
    system = {name for name in outside if name not in guaranteed and not name.startswith(LOADER)}
    return {*(set(report["packaged"]) - own), *report["external"], *system}


def differences(wheel: Path, report: dict[str, Any]) -> list[str]:
    """Compare auditwheel's verdict with ours; print both."""
    # auditwheel has no types, and is not there where mypy runs.
    abi: Any = importlib.import_module("auditwheel.wheel_abi")
    libc: Any = importlib.import_module("auditwheel.libc").Libc.GLIBC
    # No folder of this machine is searched for libraries: their own dependencies are not the wheel's.
    options = {"disable_isa_ext_check": False, "allow_graft": False, "args_ldpaths": ""}
    try:
        elf = abi.get_wheel_elfdata(libc, None, wheel, frozenset(), "")
        info = abi.analyze_wheel_abi(libc, None, wheel, frozenset(), **options)
    except abi.NonPlatformWheelError:
        print(f"{wheel.name}: auditwheel finds no ELF file; we say {report['lowest']}")
        return [] if report["lowest"] == "any" else [f"we found {report['files']} ELF files"]
    theirs = {(name, version) for name, versions in elf.versioned_symbols.items() for version in versions}
    ours = our_versions(report)
    found = [f"only auditwheel has {version} of {name}" for name, version in sorted(theirs - ours)]
    found += [f"only we have {version} of {name}" for name, version in sorted(ours - theirs)]
    # The first policy is `linux`, which promises nothing; then they go from the newest systems to the oldest.
    newest = info.external_refs[list(info.policies)[1].name]
    external, outsiders = set(newest.libs), our_outsiders(report, wheel, newest.policy.whitelist)
    found += [f"{name} is outside of the wheel to only one of us" for name in sorted(external ^ outsiders)]
    if report["lowest"].startswith("manylinux") and report["lowest"] != info.sym_policy.name:
        found.append(f"auditwheel says {info.sym_policy.name} of the symbols alone, we say {report['lowest']}")
    # What our facts do not tell: symbols that a library keeps to itself, and instructions of newer CPUs.
    if (info.blacklist_policy, info.machine_policy) != (info.policies.highest,) * 2:
        found.append(f"private symbols ({info.blacklist_policy.name}) or CPU ({info.machine_policy.name}) forbid a tag")
    verdict = f"symbols: {info.sym_policy.name}; external: {', '.join(sorted(external)) or 'none'}"
    print(
        f"{wheel.name}: {len(ours)} symbol versions by us, {len(theirs)} by auditwheel, which says "
        f"{info.overall_policy.name} ({verdict}); we say {report['lowest']}"
    )
    return found


def invalid_boms(wheel: Path) -> list[str]:
    """Check every bill of materials of a wheel (PEP 770) against the strict schema of CycloneDX 1.6."""
    validator = JsonStrictValidator(SchemaVersion.V1_6)
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if ".dist-info/sboms/" in name]
        errors = [(name, validator.validate_str(archive.read(name).decode())) for name in names]
    found = [f"{name}: {error}" for name, error in errors if error]
    return found if names else ["no bill of materials"]


def main() -> int:
    """Ask for all opinions on all wheels."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reports", type=Path, required=True, help="directory of our reports")
    parser.add_argument("wheels", nargs="+", type=Path, metavar="WHEEL", help="wheels with a platform tag")
    args = parser.parse_args()
    logging.disable()
    failed = 0
    for wheel in args.wheels:
        report = report_of(wheel, args.reports)
        devel = wheel.name.startswith("rocm_sdk_devel")
        found = invalid_boms(wheel) + ([] if devel else differences(wheel, report))
        for difference in found:
            print(f"{wheel.name}: {difference}")
        failed += bool(found)
    print(f"{len(args.wheels)} wheels, {failed} of them with a difference")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
