"""The one error that a tool reports instead of failing with a traceback."""


class ToolError(Exception):
    """Bad input: the message names the target or file, what was expected, and the remedy."""
