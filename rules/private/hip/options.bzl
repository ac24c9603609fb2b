"""Options as rules of C++ read them: `$(location)`, Make variables, and several words in one string."""

visibility(["//rules/private/hip"])

def expanded_options(ctx, attribute):
    """Returns the options of an attribute.

    Args:
        ctx: the rule context, with `srcs`, `hdrs` and `data`.
        attribute: string: name of an attribute that is a list of strings.

    Returns:
        list of string.
    """
    files = ctx.attr.srcs + ctx.attr.hdrs + ctx.attr.data
    options = []
    for element in getattr(ctx.attr, attribute):
        options += ctx.tokenize(ctx.expand_make_variables(attribute, ctx.expand_location(element, files), {}))
    return options
