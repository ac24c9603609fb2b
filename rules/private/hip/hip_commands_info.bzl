"""HipCommandsInfo: how sources are compiled for the host, for `hip_compile_commands`."""

visibility(["//rules/private/hip"])

HipCommandsInfo = provider(
    doc = "How the HIP sources of a target are compiled for the host.",
    fields = {
        "files": "depset of File: the file of arguments that `library` names, sources, and headers.",
        "library": "JSON (string): `arguments`, path of a file with one argument a line; `compiler`, path; `sources`, list of `file`, `output` and `options`.",
    },
)
