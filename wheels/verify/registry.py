"""All checks, and with them all rules. A module of checks is named here, with its functions if they look at a set.

`checks/` looks at one wheel by itself, `wheel_set/` and `device/` at what lies between wheels, `release_checks` at what
lies between releases.
"""

from collections.abc import Callable, Iterable
from typing import Final

from wheels.verify import exceptions, installed_for_target, release_checks
from wheels.verify.checks import archive, content, elf, metadata, names, pe, record, variants, wheel_file
from wheels.verify.device import rules as device_rules
from wheels.verify.device.facts import COLLECTOR as DEVICE_CODE
from wheels.verify.finding import Finding, Rule
from wheels.verify.model import Wheel
from wheels.verify.settings import Settings
from wheels.verify.wheel_set import devel, gather, importing, linking, owners, requirements, set_checks

_OF_ONE_WHEEL: Final = (archive, names, record, metadata, wheel_file, variants, elf, pe, content)
#: Look at one wheel by itself.
WHEEL_CHECKS: Final[tuple[Callable[[Wheel, Settings], Iterable[Finding]], ...]] = (
    *(module.check for module in _OF_ONE_WHEEL),
    set_checks.check_licences,
)
COLLECTORS: Final = (*gather.COLLECTORS, set_checks.LAUNCHERS, DEVICE_CODE)
_WITH_RULES: Final = (
    *_OF_ONE_WHEEL,
    *(devel, importing, linking, owners, requirements, set_checks),
    *(device_rules, release_checks, installed_for_target, exceptions),
)


def rules() -> dict[str, Rule]:
    """Return every rule by its identifier, sorted. Raises ValueError if two have one identifier."""
    found = {value for module in _WITH_RULES for value in vars(module).values() if isinstance(value, Rule)}
    if len({rule.id for rule in found}) != len(found):
        raise ValueError(f"rules share an identifier: {sorted(rule.id for rule in found)}")
    return {rule.id: rule for rule in sorted(found, key=lambda rule: rule.id)}
