"""site: the documentation as a directory of HTML pages."""

load("@rules_python//python:defs.bzl", "PyInfo")

visibility(["//docs"])

_PYTHON_TOOLCHAIN = "@rules_python//python:toolchain_type"

def _page_line(file):
    return "{}={}".format(file.short_path, file.path)

def _site_impl(ctx):
    runtime = ctx.toolchains[_PYTHON_TOOLCHAIN].py3_runtime
    interpreter = runtime.interpreter or runtime.interpreter_path
    output = ctx.actions.declare_directory(ctx.label.name)
    generator = depset(transitive = [ctx.attr._generator[PyInfo].transitive_sources, ctx.attr._generator[DefaultInfo].default_runfiles.files])

    args = ctx.actions.args()
    args.add_all(ctx.attr._generator[PyInfo].imports, format_each = "--import-root=external/%s")
    args.add(ctx.file.config, format = "--config=%s")
    args.add(ctx.attr.route, format = "--route=%s")
    args.add_all(ctx.files.srcs, map_each = _page_line, format_each = "--page=%s")
    args.add_all([output], expand_directories = False, format_each = "--output=%s")
    args.set_param_file_format("multiline")
    args.use_param_file("@%s", use_always = True)
    ctx.actions.run(
        executable = interpreter,
        arguments = ["-I", "-S", "-B", ctx.file._builder.path, args],
        inputs = depset([ctx.file._builder, ctx.file.config] + ctx.files.srcs, transitive = [generator]),
        tools = depset([runtime.interpreter] if runtime.interpreter else [], transitive = [runtime.files] if runtime.files else []),
        outputs = [output],
        mnemonic = "DocsSite",
        progress_message = "Making the documentation's site %{label}",
        toolchain = _PYTHON_TOOLCHAIN,
        # For gzip's header and the site map.
        env = {"SOURCE_DATE_EPOCH": "315532800"},
    )
    return [DefaultInfo(files = depset([output]), runfiles = ctx.runfiles([output]))]

site = rule(
    doc = "The documentation as a directory of HTML pages. The build stops at links and anchors that lead nowhere.",
    implementation = _site_impl,
    attrs = {
        "config": attr.label(mandatory = True, allow_single_file = [".yml"], doc = "MkDocs' configuration, without pages and navigation."),
        "route": attr.string(mandatory = True, doc = "Path of the page whose sections are the navigation."),
        "srcs": attr.label_list(mandatory = True, allow_files = [".css", ".md", ".svg"], doc = "Pages, pictures and style sheets."),
        "_builder": attr.label(default = "//docs/generator:site_builder.py", allow_single_file = True),
        "_generator": attr.label(default = "@site_pypi//mkdocs_material", providers = [PyInfo]),
    },
    toolchains = [_PYTHON_TOOLCHAIN],
)
