"""Runs a Python tool in an action: interpreter and archive as inputs, a params file, no shell."""

load("//rules/shared:names.bzl", "shown", "written")
load("//tools/python:py_tool.bzl", "PyToolInfo")

visibility(["//..."])

# One request at a time, see lib/common/worker.py. Bazel's multiplex workers are no choice: they share a directory,
# which Bazel deletes with everybody's sandboxes when it is done with one of them (7.7, after a build that failed).
_WORKER = {"requires-worker-protocol": "json", "supports-workers": "1"}

def tool_attr(label):
    """Returns the attribute for a tool, built for the execution platform."""
    return attr.label(default = label, cfg = "exec", providers = [PyToolInfo])

def located_file(file):
    """Maps a File to `FILE=PATH`: its name in manifests, and its path in the action."""
    return "{}={}".format(file.short_path, file.path)

def _add_arguments(args, given):
    """Adds what is given to the arguments of a tool, one a line: nothing for None, an empty list, False and an empty dict.

    Args:
        args: Args.
        given: dict from the name of a field to its value: a File, string or number; a list or depset of them; a bool; a dict, which
            gives a `KEY=VALUE` for each item.
    """
    for name, value in given.items():
        option = "--" + name.replace("_", "-")
        if type(value) == "bool":
            args.add_all([option] if value else [])
        elif type(value) in ["string", "int"]:
            args.add(value, format = option + "=%s")
        elif type(value) == "dict":
            args.add_all(["{}={}".format(key, getattr(one, "path", one)) for key, one in value.items()], format_each = option + "=%s")
        elif value:
            args.add_all([value] if type(value) == "File" else value, expand_directories = False, format_each = option + "=%s")

def _inputs(given):
    """Returns the files that are given, as a depset."""
    files, depsets = [], []
    for value in given:
        if type(value) == "depset":
            depsets.append(value)
        elif value:
            files += [value] if type(value) == "File" else value.values() if type(value) == "dict" else value
    return depset(files, transitive = depsets)

def run_tool(ctx, tool, outputs, mnemonic, progress_message, inputs = {}, values = {}, others = [], located = None, threads = 1, in_worker = False, use_default_shell_env = False, execution_requirements = {}):
    """Runs a tool. Its arguments name the target, and always go through a params file, one a line.

    Args:
        ctx: the rule context.
        tool: the Target with PyToolInfo.
        outputs: dict from a field of the tool's `Arguments` to what it writes: a File, or a list of them.
        mnemonic: the action's mnemonic.
        progress_message: what Bazel shows while the action runs.
        inputs: dict from a field to what it reads: a File, a list or depset of them, or a dict from a string to a File.
        values: dict from a field to what else it is told, as in `_add_arguments`.
        others: list of File, or of lists and depsets of them: inputs that no field names.
        located: depset or list of File: inputs for the field `file`, by their names in manifests.
        threads: how many threads the action has for its work: 1, 2, 4 or 8. See below for how many cores Bazel counts.
        in_worker: whether the action may run in a persistent worker: for actions that are many and short.
        use_default_shell_env: whether the tool sees what `--action_env` names, for the sake of SOURCE_DATE_EPOCH.
        execution_requirements: what the action asks of where it runs, besides that it be kept from the network.
    """
    args = ctx.actions.args()
    _add_arguments(args, {"label": shown(written(ctx))} | values | inputs | outputs)
    args.add_all(located or [], map_each = located_file, format_each = "--file=%s")
    args.set_param_file_format("multiline")
    args.use_param_file("@%s", use_always = True)
    info = tool[PyToolInfo]
    ctx.actions.run(
        executable = info.interpreter,
        arguments = ["-I", "-S", "-B", info.archive.path, args],
        inputs = _inputs(inputs.values() + others + [located]),
        tools = depset([info.archive], transitive = [info.runtime_files]),
        outputs = _inputs(outputs.values()).to_list(),
        mnemonic = mnemonic,
        progress_message = progress_message,
        toolchain = None,
        # The network is forbidden also if a consumer's .bazelrc does not forbid it.
        execution_requirements = {"block-network": ""} | (_WORKER if in_worker else {}) | execution_requirements,
        resource_set = _RESOURCES[threads],
        use_default_shell_env = use_default_shell_env,
    )

# Bazel requires global functions, one per amount. Pack reserves half as many cores as threads, because only one thread
# works while pack starts, reads and hashes. Memory is in MB, measured with a reserve: see docs/built/hermeticity.md.
def _one_thread(_os, _inputs):
    return {"cpu": 1, "memory": 100}

def _two_threads(_os, _inputs):
    return {"cpu": 1, "memory": 250}

def _four_threads(_os, _inputs):
    return {"cpu": 2, "memory": 300}

def _eight_threads(_os, _inputs):
    return {"cpu": 4, "memory": 400}

_RESOURCES = {1: _one_thread, 2: _two_threads, 4: _four_threads, 8: _eight_threads}
