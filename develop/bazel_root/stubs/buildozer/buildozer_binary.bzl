"""Stands in for the extension that @bazel_tools' MODULE.bazel names.

Only `bazel mod tidy` runs buildozer; everything else merely evaluates the extension.
"""

def _buildozer_binary_repository_impl(_rctx):
    fail("`bazel mod tidy` needs buildozer, which the Debian root does not have. Use a Bazel of your own for it.")

_buildozer_binary_repository = repository_rule(
    implementation = _buildozer_binary_repository_impl,
)

def _buildozer_binary_impl(_mctx):
    _buildozer_binary_repository(name = "buildozer_binary")

buildozer_binary = module_extension(
    implementation = _buildozer_binary_impl,
)
