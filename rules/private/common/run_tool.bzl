"""The one way in which rules run a Python tool: interpreter and archive as inputs, a params file, no shell."""

load("//tools/python:py_tool_info.bzl", "PyToolInfo")

visibility(["//rules/..."])

def tool_attr(label):
    """Returns the attribute for a tool, built for the execution platform."""
    return attr.label(default = label, cfg = "exec", providers = [PyToolInfo])

def tool_args(ctx):
    """Begins the arguments of a tool: they name the target, and always go through a params file, one a line.

    Args:
        ctx: the rule context.

    Returns:
        Args.
    """
    args = ctx.actions.args()
    args.add(str(ctx.label).replace("@@//", "//"), format = "--label=%s")
    args.set_param_file_format("multiline")
    args.use_param_file("@%s", use_always = True)
    return args

def run_tool(ctx, tool, args, inputs, outputs, mnemonic, progress_message, threads = 1, execution_requirements = {}):
    """Runs a tool.

    Args:
        ctx: the rule context.
        tool: the Target with PyToolInfo.
        args: from `tool_args`.
        inputs: list or depset of File.
        outputs: list of File.
        mnemonic: the action's mnemonic.
        progress_message: what Bazel shows while the action runs.
        threads: how many cores the action uses at most.
        execution_requirements: what the action asks of where it runs.
    """
    info = tool[PyToolInfo]
    ctx.actions.run(
        executable = info.interpreter,
        arguments = ["-I", "-S", "-B", info.archive.path, args],
        inputs = inputs,
        tools = depset([info.archive], transitive = [info.runtime_files]),
        outputs = outputs,
        mnemonic = mnemonic,
        progress_message = progress_message,
        toolchain = None,
        execution_requirements = execution_requirements,
        resource_set = _two_cores if threads > 1 else None,
    )

def _two_cores(_os, _inputs):
    return {"cpu": 2, "memory": 300}
