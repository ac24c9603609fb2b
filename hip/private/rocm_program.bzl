"""rocm_program: a program of an SDK, as the repository `@rocm` declares it."""

load(":providers.bzl", "RocmSharedLibraryInfo")

visibility(["//hip"])

def _rocm_program_impl(ctx):
    link = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.symlink(output = link, target_file = ctx.file.program, is_executable = True)

    # `bazel run` starts programs in the directory of the main repository's runfiles.
    directories = {file.short_path.rpartition("/")[0]: None for file in ctx.files.needed}
    return [
        DefaultInfo(executable = link, runfiles = ctx.runfiles([ctx.file.program] + ctx.files.needed + ctx.files.data)),
        RunEnvironmentInfo(environment = {"LD_LIBRARY_PATH": ":".join(directories.keys())} if directories else {}),
    ]

rocm_program = rule(
    doc = "A program of an SDK that lies built in a directory.",
    implementation = _rocm_program_impl,
    attrs = {
        "data": attr.label_list(allow_files = True, doc = "Files that the program reads when it runs."),
        "needed": attr.label_list(providers = [RocmSharedLibraryInfo], doc = "Shared libraries that it needs."),
        "program": attr.label(mandatory = True, allow_single_file = True, doc = "The program."),
    },
    executable = True,
)
