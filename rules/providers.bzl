"""The providers of the rules, for writing rules that work with them."""

load("//rules/private/providers:artifact_info.bzl", _ArtifactInfo = "ArtifactInfo")
load("//rules/private/providers:distribution_info.bzl", _DistributionInfo = "DistributionInfo")
load("//rules/private/providers:package_info.bzl", _PackageInfo = "PackageInfo")

ArtifactInfo = _ArtifactInfo
DistributionInfo = _DistributionInfo
PackageInfo = _PackageInfo
