"""planted_action: an action that does what no action may do, for the tests that such is noticed."""

visibility("private")

_PYTHON_TOOLCHAIN = "@rules_python//python:toolchain_type"

def _planted_action_impl(ctx):
    runtime = ctx.toolchains[_PYTHON_TOOLCHAIN].py3_runtime
    output = ctx.actions.declare_file(ctx.label.name + ".txt")
    ctx.actions.run(
        executable = runtime.interpreter or runtime.interpreter_path,
        arguments = [
            "-I",
            "-S",
            "-B",
            ctx.file._program.path,
            ctx.attr.fault,
            "--input=" + ctx.file.input.path,
            "--undeclared=" + ctx.file.undeclared.path,
            "--output=" + output.path,
        ],
        inputs = [ctx.file.input, ctx.file._program],
        tools = depset([runtime.interpreter] if runtime.interpreter else [], transitive = [runtime.files] if runtime.files else []),
        outputs = [output],
        mnemonic = "RocmPlanted",
        progress_message = "Planting %{label}",
        toolchain = _PYTHON_TOOLCHAIN,
    )
    return [DefaultInfo(files = depset([output]))]

planted_action = rule(
    doc = "An action with a fault, which planted.py does. Its text file is what it got to know by it.",
    implementation = _planted_action_impl,
    attrs = {
        "fault": attr.string(mandatory = True, doc = "What is wrong: the name of a function of planted.py."),
        "input": attr.label(mandatory = True, allow_single_file = True, doc = "A file that is declared."),
        "undeclared": attr.label(mandatory = True, allow_single_file = True, doc = "A file that the action knows of, but does not declare."),
        "_program": attr.label(default = ":planted.py", allow_single_file = True),
    },
    toolchains = [_PYTHON_TOOLCHAIN],
)
