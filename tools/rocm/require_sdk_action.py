"""What `sdk_requiring_wheel` runs: `require-sdk`, with the errors of an action.

require_sdk_action --label TARGET --sdk WHEEL… --output DIR [--specifier SPEC] … WHEEL
"""

from tools.commands.require_sdk import action
from tools.rocm.require_sdk_tool import INIT_PY


def main(argv: list[str]) -> int:
    """Parse the arguments and make the wheel."""
    return action.main(argv, INIT_PY)
