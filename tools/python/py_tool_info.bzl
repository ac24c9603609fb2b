"""PyToolInfo: a Python program that actions can run."""

visibility(["//develop/...", "//hip/...", "//lib/...", "//packaging/...", "//rules/...", "//tools/...", "//wheels/..."])

DOC = "A Python program in one file, with the interpreter that runs it."

FIELDS = {
    "archive": "File: the zip application.",
    "interpreter": "File or string: the interpreter, as an input or as an absolute path.",
    "runtime_files": "depset of File: what the interpreter needs beside itself.",
}

PyToolInfo = provider(doc = DOC, fields = FIELDS)
