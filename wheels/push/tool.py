"""Pushes container images to a registry, with their bills of materials. What is there already is not sent again.

    bazel run //my:push -- docker://HOST/NAME[:TAG] [options]

Without TAG, each image gets the tag that it has. oras has to be on PATH. Credentials are
what `docker login` or `oras login` stored: in ~/.docker/config.json, or by the helpers that it names.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from lib.common.program import ToolError
from wheels.push.images import chosen, parse_destination, read_images
from wheels.push.limits import check_limits
from wheels.push.oras import Oras, find_oras


def push_all(arguments: argparse.Namespace) -> None:
    """Push the images that the arguments name."""
    destination = parse_destination(arguments.destination)
    images = chosen(read_images(arguments.layout), arguments.only, destination)
    for image in images:
        check_limits(image, destination.host)
    oras = Oras(find_oras(), plain_http=arguments.plain_http)
    for image in images:
        reference = destination.reference(image)
        oras.push(image, reference)
        print(f"pushed {reference}@{image.digest}", flush=True)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="push", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("destination", help="docker://HOST/NAME or docker://HOST/NAME:TAG")
    # The target gives it.
    parser.add_argument("--layout", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="PATTERN",
        help="push the images whose tags match, such as '*-gfx942'; may be repeated",
    )
    parser.add_argument("--plain-http", action="store_true", help="reach the registry without TLS")
    try:
        push_all(parser.parse_args(argv))
    except (ToolError, OSError) as error:
        print(f"push: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
