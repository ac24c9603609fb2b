"""amd_gpu_architectures: AMD's GPU architectures, which tools know by themselves."""

load("//lib/gpus:gpu_table.bzl", "FAMILIES", "TARGETS")
load("//rules/private/common:providers.bzl", "GpuArchitecturesInfo")

visibility(["//rules/private/common"])

def _amd_gpu_architectures_impl(_ctx):
    return [GpuArchitecturesInfo(families = FAMILIES, loads = {}, names = TARGETS.keys(), table = None)]

amd_gpu_architectures = rule(
    doc = "AMD's architectures. lib/gpus knows what their names mean.",
    implementation = _amd_gpu_architectures_impl,
    provides = [GpuArchitecturesInfo],
)
