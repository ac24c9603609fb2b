"""All suites of checks, and with them all rules. To add a suite, import it here.

`checks/` looks at one wheel by itself, `wheel_set/` and `device/` at what lies between wheels, `release/` at what lies
between releases. Each has a `SUITE` (see `wheels.verify.suite`).
"""

from wheels.verify import exceptions, installed_for_target
from wheels.verify.checks import (
    archive,
    content,
    dynamic,
    elf,
    mach_o,
    metadata,
    names,
    pe,
    record,
    site_packages,
    variants,
    wheel_file,
)
from wheels.verify.device import device_checks
from wheels.verify.finding import Rule
from wheels.verify.release import release_checks
from wheels.verify.suite import Collector, Suite
from wheels.verify.wheel_set import set_checks

SUITES: tuple[Suite, ...] = (
    archive.SUITE,
    names.SUITE,
    record.SUITE,
    metadata.SUITE,
    wheel_file.SUITE,
    variants.SUITE,
    elf.SUITE,
    dynamic.SUITE,
    pe.SUITE,
    mach_o.SUITE,
    content.SUITE,
    site_packages.SUITE,
    *set_checks.SUITES,
    *device_checks.SUITES,
    release_checks.SUITE,
    installed_for_target.SUITE,
    exceptions.SUITE,
)


def rules() -> dict[str, Rule]:
    """Return every rule by its identifier, sorted. Raises ValueError if two have one identifier."""
    found = [rule for suite in SUITES for rule in suite.rules]
    if len({rule.id for rule in found}) != len(found):
        raise ValueError(f"rules share an identifier: {sorted(rule.id for rule in found)}")
    return {rule.id: rule for rule in sorted(found, key=lambda rule: rule.id)}


def collectors() -> tuple[Collector, ...]:
    """Return the collectors of all suites."""
    return tuple(collector for suite in SUITES for collector in suite.collectors)
