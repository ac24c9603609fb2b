"""The macros by which XLA's BUILD files ask for ROCm. Written when this repository was fetched."""

load("@rules_rocm_python//rules:hip.bzl", "hip_library")

_USING_HIPCC = Label("//rocm:using_hipcc")

# By another name than that which XLA's targets add themselves: a list may not have a label twice.
_HEADERS = Label("//rocm:rocm_headers_of_library")

def if_rocm(if_true, if_false = []):
    """Selects by `--define=using_rocm_hipcc=true`, which XLA's `--config=rocm` sets.

    Args:
        if_true: value with that option.
        if_false: value without.

    Returns:
        a select.
    """
    return select({
        _USING_HIPCC: if_true,
        "//conditions:default": if_false,
    })

def if_rocm_is_configured(if_true, if_false = []):  # buildifier: disable=unused-variable
    """Returns `if_true`: this repository is only there with ROCm."""
    return if_true

def if_cuda_or_rocm(if_true, if_false = []):  # buildifier: disable=unused-variable
    """Returns `if_true`."""
    return if_true

def if_gpu_is_configured(if_true, if_false = []):  # buildifier: disable=unused-variable
    """Returns `if_true`."""
    return if_true

def if_rocm_hipblaslt(if_true):
    """Returns `if_true`."""
    return if_true

def is_rocm_configured():
    """Returns True."""
    return True

def rocm_default_copts():
    """Returns no options: `rocm_library` knows what compiles HIP."""
    return []

def rocm_copts(opts = []):
    """Returns the options that it is given."""
    return opts

def rocm_gpu_architectures():
    """Returns the GPU targets of the SDK."""
    return %{gpu_architectures}

def rocm_version_number():
    """Returns ROCm's version: 70204 for 7.2.4."""
    return %{version_number}

def get_rbe_amdgpu_pool(is_single_gpu = False):  # buildifier: disable=unused-variable
    """Returns no pool of remote machines: platforms say where tests run."""
    return ""

def rocm_library(name, deps = [], **kwargs):
    """Declares a library of HIP sources.

    Args:
        name: name of the target.
        deps: libraries. ROCm's headers need not be named.
        **kwargs: attributes of `hip_library`.
    """
    hip_library(name = name, deps = deps + [_HEADERS], **kwargs)
