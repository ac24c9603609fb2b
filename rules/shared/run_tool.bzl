"""How rules run a Python tool: interpreter and archive as inputs, a params file, no shell."""

load("//rules/shared:names.bzl", "shown", "written")
load("//tools/python:py_tool.bzl", "PyToolInfo")

visibility(["//..."])

# One request at a time, see lib/common/worker.py. Bazel's multiplex workers are no choice: they share a directory,
# which Bazel deletes with everybody's sandboxes when it is done with one of them (7.7, after a build that failed).
_WORKER = {"requires-worker-protocol": "json", "supports-workers": "1"}

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
    args.add(shown(written(ctx)), format = "--label=%s")
    args.set_param_file_format("multiline")
    args.use_param_file("@%s", use_always = True)
    return args

def run_tool(ctx, tool, args, inputs, outputs, mnemonic, progress_message, threads = 1, compresses_xz = False, in_worker = False, use_default_shell_env = False, execution_requirements = {}):
    """Runs a tool.

    Args:
        ctx: the rule context.
        tool: the Target with PyToolInfo.
        args: from `tool_args`.
        inputs: list or depset of File.
        outputs: list of File.
        mnemonic: the action's mnemonic.
        progress_message: what Bazel shows while the action runs.
        threads: how many threads the action has for its work: 1, 2, 4 or 8. See below for how many cores Bazel counts.
        compresses_xz: whether two threads compress with xz, which takes far more memory than all else.
        in_worker: whether the action may run in a persistent worker: for actions that are many and short.
        use_default_shell_env: whether the tool sees what `--action_env` names, for the sake of SOURCE_DATE_EPOCH.
        execution_requirements: what the action asks of where it runs, besides that it be kept from the network.
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
        # The network is forbidden also if a consumer's .bazelrc does not forbid it.
        execution_requirements = {"block-network": ""} | (_WORKER if in_worker else {}) | execution_requirements,
        resource_set = _two_threads_with_xz if compresses_xz else _RESOURCES[threads],
        use_default_shell_env = use_default_shell_env,
    )

# Bazel requires global functions, one per amount. Pack reserves half as many cores as threads, because only one thread
# works while pack starts, reads and hashes. xz keeps both of its cores busy. Memory is in MB, measured with a reserve:
# see docs/built/hermeticity.md.
def _one_thread(_os, _inputs):
    return {"cpu": 1, "memory": 100}

def _two_threads(_os, _inputs):
    return {"cpu": 1, "memory": 250}

def _four_threads(_os, _inputs):
    return {"cpu": 2, "memory": 300}

def _eight_threads(_os, _inputs):
    return {"cpu": 4, "memory": 400}

def _two_threads_with_xz(_os, _inputs):
    return {"cpu": 2, "memory": 500}

_RESOURCES = {1: _one_thread, 2: _two_threads, 4: _four_threads, 8: _eight_threads}
