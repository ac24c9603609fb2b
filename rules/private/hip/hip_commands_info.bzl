"""HipCommandsInfo: how sources were compiled for the host, for `hip_compile_commands`."""

visibility(["//rules/private/hip"])

HipCommandsInfo = provider(
    doc = "How HIP sources are compiled for the host: those of a target, and of all that it depends on.",
    fields = {
        "files": "depset of File: the files of arguments that `libraries` name, sources, and headers.",
        "libraries": "depset of JSON (string): `arguments`, path of a file with one argument a line; `compiler`, path; `sources`, list of `file`, `output` and `options`.",
    },
)
