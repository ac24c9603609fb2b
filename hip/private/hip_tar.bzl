"""hip_tar: makes an archive of programs that run on another machine."""

load("//rules/shared:labels.bzl", "shown")
load("//rules/shared:run_tool.bzl", "run_tool", "tool_args", "tool_attr")
load(":find_hip_toolchain.bzl", "HIP_TOOLCHAIN_ATTRS", "find_hip_toolchain", "use_hip_toolchain")

visibility(["//hip"])

def _file_of(name):
    """Returns a function that says of a file for which program it is, and where it lies in runfiles."""
    return lambda file: "{}\t{}\t{}".format(name, file.short_path, file.path)

def _hip_tar_impl(ctx):
    archive = ctx.actions.declare_file(ctx.label.name + ".tar")
    needed = ctx.actions.declare_file(ctx.label.name + ".needed.txt")
    args = tool_args(ctx)
    args.add(archive, format = "--output=%s")
    args.add(needed, format = "--needed=%s")
    args.add(find_hip_toolchain(ctx).runfiles_root, format = "--sdk=%s")
    args.add(ctx.workspace_name, format = "--workspace=%s")
    args.add(ctx.attr.directory, format = "--directory=%s")
    args.add_all(ctx.attr.rpath, format_each = "--rpath=%s")
    programs, files = [], []
    for target in ctx.attr.programs:
        program = target[DefaultInfo].files_to_run.executable
        if not program:
            fail("{}: programs: {} is not a program; expected one, such as a hip_binary. Change `programs`".format(shown(ctx.label), shown(target.label)))
        programs.append(program)
        files.append(target[DefaultInfo].default_runfiles.files)
        args.add_all(files[-1], allow_closure = True, format_each = "--runfile=%s", map_each = _file_of(program.basename))
    args.add_all(programs, format_each = "--program=%s")
    run_tool(
        ctx,
        tool = ctx.attr._tar,
        args = args,
        inputs = depset(programs, transitive = files),
        outputs = [archive, needed],
        mnemonic = "HipTar",
        progress_message = "Making archive %{label}",
        use_default_shell_env = True,
        # A cache would store the bulk once more.
        execution_requirements = {"no-remote-cache-upload": ""},
    )
    return [DefaultInfo(files = depset([archive])), OutputGroupInfo(needed = depset([needed]))]

hip_tar = rule(
    doc = """Makes a tar archive of programs with what they need on another machine, or in a container image: libraries of the SDK with
device code for the GPU targets of the build, their data files, and other runfiles.

Programs are in `bin`, libraries in `lib`, where search paths of the programs lead to. The output group `needed` lists the
libraries that the machine must have, such as libc.""",
    implementation = _hip_tar_impl,
    attrs = HIP_TOOLCHAIN_ATTRS | {
        "directory": attr.string(doc = "Directory in the archive, such as `opt/acme`."),
        "programs": attr.label_list(mandatory = True, allow_empty = False, providers = [DefaultInfo], doc = "Programs and shared libraries: `hip_binary`, `hip_test`, or of C++."),
        "rpath": attr.string_list(doc = "Directories where programs find the SDK: on the machine, such as `/opt/rocm/lib`, or in its Python packages, relative to `$ORIGIN` (the directory of a program). The archive has no file of the SDK then."),
        "_tar": tool_attr("//hip/tools/tar:tar_tool"),
    },
    toolchains = use_hip_toolchain(),
)
