"""Shared by analysis tests: they expect failures, and read actions."""

load("@bazel_skylib//lib:unittest.bzl", "analysistest", "asserts")

visibility(["//..."])

def _failure_impl(ctx):
    env = analysistest.begin(ctx)
    for message in ctx.attr.messages:
        asserts.expect_failure(env, message)
    return analysistest.end(env)

def failure_test(config_settings = {}):
    """Returns the rule of a test that a target fails in analysis, in a configuration with these settings."""
    return analysistest.make(
        _failure_impl,
        attrs = {"messages": attr.string_list(doc = "What the error must say.")},
        config_settings = config_settings,
        expect_failure = True,
    )

_failure_test = failure_test()

def expect_failure(name, target_under_test, messages):
    """Declares a test that a target fails in analysis, with all of these words; returns its name."""
    _failure_test(name = name, target_under_test = target_under_test, messages = messages)
    return name

def actions_of(env, mnemonic):
    """Returns the actions of the target under test that have a mnemonic."""
    return [action for action in analysistest.target_actions(env) if action.mnemonic == mnemonic]

# How the lists of headers end that compilations did not include.
UNUSED_HEADERS = ".unused_headers"

def outputs_of(action):
    """Returns the names of an action's outputs, except the list of unused headers."""
    return [file.basename for file in action.outputs.to_list() if not file.basename.endswith(UNUSED_HEADERS)]

def after_prefix(argv, prefix):
    """Returns what follows a prefix in the arguments that begin with it."""
    return [argument.removeprefix(prefix) for argument in argv if argument.startswith(prefix)]

def assert_hermetic(env, action):
    """Asserts that an action runs the toolchain's interpreter on an archive, in isolation, without a shell.

    Args:
        env: from `analysistest.begin`.
        action: the action.
    """
    argv = action.argv
    asserts.true(env, argv[0].endswith("python3") or "python" in argv[0], "expected an interpreter, found " + argv[0])
    asserts.equals(env, ["-I", "-S", "-B"], argv[1:4])
    asserts.true(env, argv[4].endswith(".pyz"), "expected a tool's archive, found " + argv[4])
    for argument in argv:
        asserts.false(env, argument.endswith(("/sh", "/bash")) or argument == "env", "a shell or a look on PATH: " + argument)
