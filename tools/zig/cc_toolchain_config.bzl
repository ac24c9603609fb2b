"""The C toolchain configuration over `zig cc`.

Every tool is a subcommand of one program, so each action's first flag is the name of
the subcommand. That is why the legacy features of Bazel, which would put their flags
before it, are off, and why each feature that is needed is written down here.
"""

load("@rules_cc//cc:action_names.bzl", "ACTION_NAMES")
load(
    "@rules_cc//cc:cc_toolchain_config_lib.bzl",
    "action_config",
    "artifact_name_pattern",
    "env_entry",
    "env_set",
    "feature",
    "flag_group",
    "flag_set",
    "tool",
    "variable_with_value",
)
load("@rules_cc//cc/common:cc_common.bzl", "cc_common")
load("@rules_cc//cc/toolchains:cc_toolchain_config_info.bzl", "CcToolchainConfigInfo")

_COMPILE = [ACTION_NAMES.c_compile, ACTION_NAMES.cpp_compile, ACTION_NAMES.assemble, ACTION_NAMES.preprocess_assemble]
_LINK = [ACTION_NAMES.cpp_link_executable, ACTION_NAMES.cpp_link_dynamic_library, ACTION_NAMES.cpp_link_nodeps_dynamic_library]
_ARCHIVE = [ACTION_NAMES.cpp_link_static_library]
_STRIP = [ACTION_NAMES.strip]

# No action shares a cache with another: what it finds there would not be an input.
# The path is relative to the execution root, so it vanishes with the sandbox.
# Told where its library is, zig prints relative paths into dependency files.
# zig fails if SOURCE_DATE_EPOCH, which --action_env may set, is empty or not a number. Its output has no date, so any number
# is fine.
def _environment(lib):
    return [
        env_entry("SOURCE_DATE_EPOCH", "0"),
        env_entry("ZIG_GLOBAL_CACHE_DIR", ".zig-cache"),
        env_entry("ZIG_LIB_DIR", lib),
        env_entry("ZIG_LOCAL_CACHE_DIR", ".zig-cache"),
    ]

def _flags(name, actions, flags, iterate = None, when = None, enabled = True):
    group = flag_group(flags = flags, iterate_over = iterate, expand_if_available = when)
    return feature(name = name, enabled = enabled, flag_sets = [flag_set(actions = actions, flag_groups = [group])])

def _subcommands(target, lib):
    return [
        feature(name = "zig_environment", enabled = True, env_sets = [env_set(actions = _COMPILE + _LINK + _ARCHIVE + _STRIP, env_entries = _environment(lib))]),
        # -O1 and undefined-behaviour traps are zig's defaults for C; a toolchain must not add checks that were not asked for.
        _flags("zig_cc", _COMPILE + _LINK, ["cc", "-target", target, "-fno-sanitize=undefined"]),
        _flags("zig_cxx_language", [ACTION_NAMES.cpp_compile], ["-xc++"]),
        _flags("zig_objcopy", _STRIP, ["objcopy", "--strip-debug", "%{input_file}", "%{output_file}"], when = "output_file"),
        _flags("zig_ar", _ARCHIVE, ["ar", "rcsD", "%{output_execpath}"], when = "output_execpath"),
    ]

def _compile_features():
    return [
        _flags("pic", _COMPILE, ["-fPIC"], when = "pic"),
        # The compiler's date and directories are no part of its output.
        _flags("reproducible", _COMPILE, ["-Wno-builtin-macro-redefined", "-D__DATE__=\"redacted\"", "-D__TIME__=\"redacted\"", "-ffile-compilation-dir=."]),
        _flags("preprocessor_defines", _COMPILE, ["-D%{preprocessor_defines}"], iterate = "preprocessor_defines"),
        _flags("include_paths", _COMPILE, ["-I%{include_paths}"], iterate = "include_paths"),
        _flags("quote_include_paths", _COMPILE, ["-iquote", "%{quote_include_paths}"], iterate = "quote_include_paths"),
        _flags("system_include_paths", _COMPILE, ["-isystem", "%{system_include_paths}"], iterate = "system_include_paths"),
        _flags("dependency_file", _COMPILE, ["-MD", "-MF", "%{dependency_file}"], when = "dependency_file"),
        _flags("user_compile_flags", _COMPILE, ["%{user_compile_flags}"], iterate = "user_compile_flags"),
        _flags("compiler_input_flags", _COMPILE, ["-c", "%{source_file}"], when = "source_file"),
        _flags("compiler_output_flags", _COMPILE, ["-o", "%{output_file}"], when = "output_file"),
    ]

def _library_groups():
    """Flags for `libraries_to_link`: paths as they are, object groups between their markers."""

    def group(kind, flags, iterate = None):
        return flag_group(flags = flags, iterate_over = iterate, expand_if_equal = variable_with_value("libraries_to_link.type", kind))

    def whole_archive(flag):
        return flag_group(flags = [flag], expand_if_true = "libraries_to_link.is_whole_archive")

    return feature(name = "libraries_to_link", enabled = True, flag_sets = [flag_set(
        actions = _LINK + _ARCHIVE,
        flag_groups = [flag_group(iterate_over = "libraries_to_link", expand_if_available = "libraries_to_link", flag_groups = [
            whole_archive("-Wl,--whole-archive"),
            group("object_file_group", ["%{libraries_to_link.object_files}"], iterate = "libraries_to_link.object_files"),
            group("object_file", ["%{libraries_to_link.name}"]),
            group("static_library", ["%{libraries_to_link.name}"]),
            group("dynamic_library", ["-l%{libraries_to_link.name}"]),
            group("versioned_dynamic_library", ["-l:%{libraries_to_link.name}"]),
            whole_archive("-Wl,--no-whole-archive"),
        ])],
    )])

def _link_features():
    return [
        _flags("shared_flag", _LINK[1:], ["-shared"]),
        _flags("output_execpath_flags", _LINK, ["-o", "%{output_execpath}"], when = "output_execpath"),
        _flags("library_search_directories", _LINK, ["-L%{library_search_directories}"], iterate = "library_search_directories", when = "library_search_directories"),
        _library_groups(),
        _flags("user_link_flags", _LINK, ["%{user_link_flags}"], iterate = "user_link_flags", when = "user_link_flags"),
    ]

def _windows_features():
    """DLLs come with import libraries, which others link; and a PE header has a number that depends on the content, not on the time."""
    return [
        feature(name = "targets_windows", enabled = True),
        # The linker makes the import library; no script of Bazel does.
        feature(name = "has_configured_linker_path", enabled = True),
        feature(name = "supports_interface_shared_libraries", enabled = True),
        _flags("import_library", _LINK[1:], ["-Wl,--out-implib,%{interface_library_output_path}"], when = "interface_library_output_path"),
        # CodeView has the path of zig's temporary file, which differs each time.
        _flags("no_debug_information", _COMPILE, ["-g0"]),
        # Without -s, the linker writes a database of debug information beside its output, and the number depends on that one's path.
        _flags("reproducible_link", _LINK, ["-Wl,/Brepro", "-s"]),
    ]

_LIBCS = {"linux": "glibc", "windows": "mingw"}

def _zig_cc_toolchain_config_impl(ctx):
    zig = tool(tool = ctx.file.tool)
    lib = ctx.file.tool.dirname + "/lib"
    return cc_common.create_cc_toolchain_config_info(
        ctx = ctx,
        toolchain_identifier = "zig-" + ctx.attr.target,
        target_system_name = ctx.attr.target,
        target_cpu = ctx.attr.cpu,
        target_libc = _LIBCS[ctx.attr.os],
        compiler = "clang",
        abi_version = "gnu",
        abi_libc_version = ctx.attr.target.partition("-gnu.")[2],
        cxx_builtin_include_directories = [lib],
        action_configs = [action_config(action_name = name, tools = [zig]) for name in _COMPILE + _LINK + _ARCHIVE + _STRIP],
        features = [feature(name = "no_legacy_features"), feature(name = "supports_pic", enabled = True)] +
                   _subcommands(ctx.attr.target, lib) + _compile_features() + _link_features() +
                   (_windows_features() if ctx.attr.os == "windows" else []),
        artifact_name_patterns = [artifact_name_pattern(category_name = "interface_library", prefix = "", extension = ".lib")] if ctx.attr.os == "windows" else [],
    )

zig_cc_toolchain_config = rule(
    doc = "Configures `zig cc` for one target.",
    implementation = _zig_cc_toolchain_config_impl,
    attrs = {
        "cpu": attr.string(mandatory = True, doc = "The target's CPU, as `@platforms//cpu` names it."),
        "os": attr.string(mandatory = True, values = _LIBCS.keys(), doc = "The target's operating system, as `@platforms//os` names it."),
        "target": attr.string(mandatory = True, doc = "zig's name of the target, with the oldest glibc to support."),
        "tool": attr.label(mandatory = True, allow_single_file = True, doc = "The `zig` program."),
    },
    provides = [CcToolchainConfigInfo],
)
