"""For rules that work with these rules: their providers, kinds of versions and version suffixes."""

load("//rules/private:sdk_version.bzl", _KINDS = "KINDS")
load("//rules/private/common:providers.bzl", _ArtifactInfo = "ArtifactInfo", _DistributionInfo = "DistributionInfo", _InstallSchemeInfo = "InstallSchemeInfo", _PackageInfo = "PackageInfo")
load("//rules/private/common:version_suffix.bzl", _VERSION_SUFFIX_ATTRS = "VERSION_SUFFIX_ATTRS", _with_suffix = "with_suffix")

ArtifactInfo = _ArtifactInfo
DistributionInfo = _DistributionInfo
InstallSchemeInfo = _InstallSchemeInfo
KINDS = _KINDS
PackageInfo = _PackageInfo
VERSION_SUFFIX_ATTRS = _VERSION_SUFFIX_ATTRS
with_suffix = _with_suffix
