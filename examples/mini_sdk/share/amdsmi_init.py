"""A Python package inside an artifact, where ROCm's amdsmi is."""

from .amdsmi_wrapper import amd_smi


def amdsmi_chain() -> int:
    """Return how many libraries a call goes through."""
    return amd_smi.amd_smi_chain()
