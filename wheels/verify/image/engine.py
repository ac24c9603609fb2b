"""Verifies a container image: its packages, as the wheels that they were installed from, and its layers.

outcome = verify_image(Path("bazel-bin/packaging/image_gfx942"), request)
"""

from dataclasses import replace
from pathlib import Path

from lib.common.program import ToolError
from wheels.verify.engine import Outcome, Request, check, read_opened
from wheels.verify.exceptions import judge
from wheels.verify.foreign_wheels import softened
from wheels.verify.image.image_checks import check_image
from wheels.verify.image.installed import as_wheel, installed
from wheels.verify.image.layers import read_image
from wheels.verify.model import DistributionSet
from wheels.verify.settings import Settings
from wheels.verify.wheel_set.closure import applies
from wheels.verify.wheel_set.gather import gather


def verify_image(path: Path, request: Request) -> Outcome:
    """Verify an image. Raises ToolError if it is damaged."""
    if request.last_release or request.others:
        raise ToolError(f"{path}: is an image; expected no --others and no --last-release. Verify the image alone")
    with read_image(path) as tree:
        found = installed(tree)
        facts = read_opened([one.opened for one in found], request)
        wheels = [
            as_wheel(tree, one, about, (other for other in found if other is not one))
            for one, about in zip(found, facts, strict=True)
        ]
        distributions = DistributionSet(tuple(sorted(wheels, key=lambda wheel: wheel.filename)))
        of_base = {one.filename for one in found if one.layer not in tree.own_layers}
        checked = check(distributions, replace(request, settings=_without_extras(distributions, request.settings)))
        findings = [softened(finding, of_base) for finding in checked]
        findings += check_image(tree, found)
    return Outcome(distributions, judge(findings, request.exceptions))


def _without_extras(distributions: DistributionSet, settings: Settings) -> Settings:
    """Return the settings without what extras require: an image has what is installed, not what could be."""
    packages, _ = gather(distributions)
    requirements = [requirement for package in packages for requirement in package.requires]
    optional = {one.name for one in requirements} - {one.name for one in requirements if applies(one)}
    return replace(settings, external_requirements=(*settings.external_requirements, *sorted(optional)))
