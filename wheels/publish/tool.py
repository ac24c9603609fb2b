"""Publishes the packages of a build: into a directory, an S3 bucket, or a package index.

    bazel run //my:publish -- --to PLACE [options]

All files are compared first, by SHA-256. Files that are already published are not sent again. If one is published with
other bytes, nothing is sent. The pages of the index are sent last, so they never name missing files. After an
interruption, call it again: it sends the rest.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lib.common.command import exit_codes, run_command
from lib.common.program import ToolError
from lib.common.wheel_scripts import put_on_path
from wheels.publish.files import LocalFile, read_files
from wheels.publish.place import Place, check_url, parse_bucket, parse_directory, run_directory
from wheels.publish.run import Options, publish

EPILOG = """places:
  DIR or file:///DIR      a directory, which a web server may serve as it is
  s3://BUCKET[/PREFIX]    a bucket of AWS, or of another server with --endpoint-url
  index                   a package index with PyPI's upload API, with --upload-url and --index-url

With --run-id the packages go into a directory of that CI run: PLACE/RUN-PLATFORM/python/[GROUP/].

examples:
  publish --to /srv/packages
  publish --to s3://my-bucket --run-id 21440027240 --group gfx110X-all --dry-run
  publish --to s3://my-bucket/nightly --endpoint-url https://s3.example.com
  publish --to index --upload-url https://pypi.example.com/ --index-url https://pypi.example.com/simple/

credentials come from the environment only:
  S3      AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, AWS_PROFILE, or the machine's role
  index   UV_PUBLISH_TOKEN, or UV_PUBLISH_USERNAME and UV_PUBLISH_PASSWORD; UV_KEYRING_PROVIDER=subprocess for a keyring

An index gets the wheels and the sdist. It does not get the wheel in static/, which installers would prefer to the
sdist, nor wheel variants, whose names such an index refuses.

""" + exit_codes(
    "everything is published",
    "the place has other bytes or distributions than this build: the message says which, and what to do",
)


@dataclass(frozen=True)
class Arguments:
    """The command line; `--help` says what each argument is."""

    to: str
    dist: Path
    dry_run: bool
    run_id: str
    platform: str
    group: str
    endpoint_url: str
    upload_url: str
    index_url: str
    leave_unlisted: bool


def parser() -> argparse.ArgumentParser:
    """Make the command line parser."""
    result = argparse.ArgumentParser(
        prog="rocm-wheels publish",
        description=__doc__,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    result.add_argument("--to", required=True, metavar="PLACE", help="where to publish; see below")
    result.add_argument("--dist", type=Path, required=True, metavar="DIR", help="what to publish; the target sets it")
    result.add_argument("--dry-run", action="store_true", help="compare, and print what would be sent")
    result.add_argument("--run-id", default="", metavar="ID", help="ID of the CI run that built these packages")
    result.add_argument("--platform", default="linux", help="platform of the CI run (default: linux)")
    result.add_argument("--group", default="", help="group of the CI run, if it has several, such as gfx110X-all")
    result.add_argument("--endpoint-url", default="", metavar="URL", help="URL of an S3 server other than AWS's")
    result.add_argument("--upload-url", default="", metavar="URL", help="upload API of the package index")
    result.add_argument(
        "--index-url", default="", metavar="URL", help="simple API of the package index, to read what is published"
    )
    result.add_argument(
        "--leave-unlisted",
        action="store_true",
        help="go on where the place has other distributions, which the new index will not list",
    )
    return result


def check_combination(arguments: Arguments) -> None:
    """Raise ToolError for options that do not belong to the kind of place."""
    is_index, is_s3 = arguments.to == "index", arguments.to.startswith("s3://")
    if is_index and not (arguments.upload_url and arguments.index_url):
        raise ToolError("--to=index: name its upload API with --upload-url, and its simple API with --index-url")
    if is_index and (arguments.run_id or arguments.group):
        raise ToolError("--to=index: an index has no directories; leave out --run-id and --group")
    if not is_index and (arguments.upload_url or arguments.index_url):
        raise ToolError(f"--to={arguments.to}: --upload-url and --index-url belong to --to=index")
    if arguments.endpoint_url and not is_s3:
        raise ToolError(f"--to={arguments.to}: --endpoint-url belongs to s3://BUCKET")


def make_place(arguments: Arguments, files: Sequence[LocalFile], base: Path) -> Place:
    """Return the place that the arguments name; `base` is where relative paths begin.

    What a kind of place needs is imported here: S3's client alone takes longer to load than a directory to compare.
    """
    check_combination(arguments)
    directory = run_directory(arguments.run_id, arguments.platform, arguments.group)
    if arguments.to == "index":
        from wheels.publish.package_index import IndexUrls, PackageIndexPlace

        urls = IndexUrls(check_url("--upload-url", arguments.upload_url), check_url("--index-url", arguments.index_url))
        return PackageIndexPlace(urls, files)
    if arguments.to.startswith("s3://"):
        from wheels.publish.s3 import S3Place, make_client

        endpoint = check_url("--endpoint-url", arguments.endpoint_url) if arguments.endpoint_url else None
        return S3Place(parse_bucket(arguments.to), directory, make_client(endpoint), endpoint)
    from wheels.publish.directory import DirectoryPlace

    return DirectoryPlace(parse_directory(arguments.to, base) / directory)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    arguments = Arguments(**vars(parser().parse_args(argv)))
    base = Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."))  # Where `bazel run` was typed.

    def work() -> None:
        check_combination(arguments)
        files = read_files(arguments.dist)
        place = make_place(arguments, files, base)
        options = Options(dry_run=arguments.dry_run, leave_unlisted=arguments.leave_unlisted)
        print(publish(files, place, options))

    return run_command("rocm-wheels publish", work, interrupted="what is visible is whole, and calling this again does the rest")


if __name__ == "__main__":
    put_on_path()  # uv comes as a wheel.
    sys.exit(main())
