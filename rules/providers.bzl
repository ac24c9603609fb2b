"""For rules that work with these rules: their providers, the toolchain for HIP, versions and version suffixes."""

load("//rules/private:sdk_version.bzl", _KINDS = "KINDS")
load("//rules/private/common:pep440.bzl", _normal_form = "normal_form")
load("//rules/private/common:providers.bzl", _ArtifactInfo = "ArtifactInfo", _DistributionInfo = "DistributionInfo", _GpuArchitecturesInfo = "GpuArchitecturesInfo", _InstallSchemeInfo = "InstallSchemeInfo", _LayerInfo = "LayerInfo", _PackageInfo = "PackageInfo")
load("//rules/private/common:version_suffix.bzl", _VERSION_SUFFIX_ATTRS = "VERSION_SUFFIX_ATTRS", _with_suffix = "with_suffix")
load("//rules/private/hip:find_hip_toolchain.bzl", _HIP_TOOLCHAIN_ATTRS = "HIP_TOOLCHAIN_ATTRS", _find_hip_toolchain = "find_hip_toolchain", _use_hip_toolchain = "use_hip_toolchain")
load("//rules/private/hip:providers.bzl", _HipInfo = "HipInfo", _HipToolchainInfo = "HipToolchainInfo")

ArtifactInfo = _ArtifactInfo
DistributionInfo = _DistributionInfo
find_hip_toolchain = _find_hip_toolchain
GpuArchitecturesInfo = _GpuArchitecturesInfo
HIP_TOOLCHAIN_ATTRS = _HIP_TOOLCHAIN_ATTRS
HipInfo = _HipInfo
HipToolchainInfo = _HipToolchainInfo
InstallSchemeInfo = _InstallSchemeInfo
KINDS = _KINDS
LayerInfo = _LayerInfo
normal_form = _normal_form
PackageInfo = _PackageInfo
use_hip_toolchain = _use_hip_toolchain
VERSION_SUFFIX_ATTRS = _VERSION_SUFFIX_ATTRS
with_suffix = _with_suffix
