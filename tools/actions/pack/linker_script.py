"""Makes linker scripts: text files by which linkers find a library that lies elsewhere under another name.

A wheel holds no links, so the development tree of a plain devel package has its libraries' names for linkers as such
files. GNU ld, gold, lld and mold take a text file for a script, and look for the files that it names in its own
directory (GNU ld's manual, "Implicit Linker Scripts"; `INPUT`). What is linked needs the library by its SONAME.
"""


def linker_script(target: str) -> bytes:
    """Return the script that brings the library `target`, a path relative to the script's directory."""
    # A quoted name may have any character but a quotation mark.
    return f'/* GNU ld script, made by rules_rocm_python: this library lies elsewhere. */\nINPUT("{target}")\n'.encode()
