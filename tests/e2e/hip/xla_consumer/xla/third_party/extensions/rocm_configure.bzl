"""Declares `@local_config_rocm` as XLA does, without content: it must not be fetched."""

def _not_replaced_impl(rctx):
    fail("{}: the repository that XLA declares itself; expected the repository that replaces it".format(rctx.name))

_not_replaced = repository_rule(implementation = _not_replaced_impl)

def _rocm_configure_ext_impl(_mctx):
    _not_replaced(name = "local_config_rocm")

rocm_configure_ext = module_extension(implementation = _rocm_configure_ext_impl)
