"""Makes linker scripts: text files that lead linkers to a library that lies elsewhere under another name.

A wheel holds no links, so the development tree of a plain devel package has its libraries' names for linkers as such
files. GNU ld, gold, lld and mold take a text file for a script, and look for the files that it names in its own
directory (GNU ld's manual, "Implicit Linker Scripts"; `INPUT`). What is linked needs the library by its SONAME.
"""

import re

_COMMENT = "/* GNU ld script, made by rules_rocm_python: this library lies elsewhere. */"


def linker_script(target: str) -> bytes:
    """Return the script that brings the library `target`, a path relative to the script's directory."""
    # A quoted name may have any character but a quotation mark.
    return f'{_COMMENT}\nINPUT("{target}")\n'.encode()


def read_linker_script(content: bytes) -> str | None:
    """Return the target of a script that `linker_script` made; None for any other file."""
    match = re.fullmatch(rf'{re.escape(_COMMENT)}\nINPUT\("(.+)"\)\n', content.decode(errors="replace"))
    return match[1] if match else None
