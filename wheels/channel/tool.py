"""Keeps a channel: builds in streams, each stream an index for pip and uv, over one store of files.

    rocm-wheels channel init   --channel PLACE --stream nightly --stream stable
    rocm-wheels channel add    --channel PLACE --stream nightly DIST...
    rocm-wheels channel retire --channel PLACE --stream nightly --older-than 30d --keep-last 3
    rocm-wheels channel check  --channel PLACE
    rocm-wheels channel show   --channel PLACE

Whatever is listed can be installed, at every moment, also when a command is killed. Published names keep their bytes
for ever.
"""

import argparse
import json
import re
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from lib.common.command import FOUND, OK, CannotRunError, exit_codes, run_command
from lib.common.program import size_text
from wheels.channel.aggregate import listed_elsewhere
from wheels.channel.change import change, read_channel
from wheels.channel.check import check
from wheels.channel.complaints import REMEDIES
from wheels.channel.local_files import read_local
from wheels.channel.lock_files import fetch_locked
from wheels.channel.model import CHANNEL, DAY, STORE, Channel, StreamState, time_text, to_json
from wheels.channel.place import ChangedError, Place, make_place
from wheels.channel.plan import GROW, ChannelChange, Selection, add, keep, retire

EPILOG: Final = """places:
  DIR or file:///DIR      a directory, which a web server may serve as it is
  s3://BUCKET[/PREFIX]    a bucket of AWS, or of another server with --endpoint-url; credentials come from the
                          environment: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, AWS_PROFILE, or the machine's role

""" + exit_codes("done", "refused, or complaints: the message says what the channel has, and what to do")
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]*")
_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": DAY}
#: Names at the top of a channel that no stream may have.
_TAKEN: Final = frozenset({"files", "channel.json", "journal.json", "lock.json"})


def seconds(text: str) -> int:
    """Read a time such as 30d. Raises ArgumentTypeError for anything else."""
    match = re.fullmatch(r"(\d+)([smhd])", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text}: expected a number and s, m, h or d, such as 30d")
    return int(match[1]) * _UNITS[match[2]]


def stream_name(text: str) -> str:
    """Read the name of a stream. Raises ArgumentTypeError for what no path may have."""
    if not _NAME.fullmatch(text) or text in _TAKEN:
        raise argparse.ArgumentTypeError(f"{text}: expected a name of a stream, such as nightly")
    return text


def owner(text: str) -> tuple[str, tuple[str, ...]]:
    """Read OWNER=NAME,… Raises ArgumentTypeError for anything else."""
    name, _, names = text.partition("=")
    if not name or not names:
        raise argparse.ArgumentTypeError(f"{text}: expected OWNER=NAME,NAME, such as rocm=rocm,rocm-sdk-*")
    return name, tuple(names.split(","))


@dataclass(frozen=True)
class Arguments:
    """The command line; `--help` says what each argument is."""

    command: str
    channel: str
    endpoint_url: str = ""
    json: bool = False
    dry_run: bool = False
    wait: int = 0
    stream: str = ""
    streams: list[str] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)
    owners: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    aggregates: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    title: str | None = None
    url: str | None = None
    grace: int | None = None
    settle: int | None = None
    dist: list[Path] = field(default_factory=list)
    older: bool = False
    lock: Path | None = None
    older_than: int = 0
    keep_last: int = 1


def parser() -> argparse.ArgumentParser:
    """Make the command line parser."""
    form: dict[str, Any] = {"formatter_class": argparse.RawDescriptionHelpFormatter, "allow_abbrev": False}
    form |= {"epilog": EPILOG}
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--channel", required=True, metavar="PLACE", help="where the channel is: a directory or bucket")
    common.add_argument("--endpoint-url", default="", metavar="URL", help="URL of an S3 server other than AWS's")
    common.add_argument("--json", action="store_true", help="print a JSON document")
    changing = argparse.ArgumentParser(add_help=False, parents=[common])
    changing.add_argument("--dry-run", action="store_true", help="print what would change, and change nothing")
    changing.add_argument(
        "--wait", type=seconds, default=600, metavar="TIME", help="how long to wait for another writer (default: 10m)"
    )
    result = argparse.ArgumentParser(prog="rocm-wheels channel", description=__doc__, **form)
    commands = result.add_subparsers(dest="command", required=True, metavar="COMMAND")
    given = {**form, "parents": [changing]}
    one = commands.add_parser("init", **given, help="make a channel, add streams, or write all pages again")
    one.add_argument("--stream", dest="streams", action="append", default=[], type=stream_name, help="a stream to make")
    one.add_argument("--closed", action="append", default=[], type=stream_name, help="a stream that serves alone")
    one.add_argument(
        "--owner", dest="owners", action="append", default=[], type=owner, metavar="OWNER=NAME,…", help="who has names"
    )
    one.add_argument(
        "--aggregate",
        dest="aggregates",
        action="append",
        default=[],
        type=owner,
        metavar="STREAM=SOURCE,…",
        help="a stream that lists others, by path or URL: all=../nightly/,https://example.com/torch/stable/",
    )
    one.add_argument("--title", help="headline of landing pages (default: Packages)")
    one.add_argument("--url", help="where the channel is served")
    one.add_argument("--grace", type=seconds, metavar="TIME", help="how long unlisted files stay (default: 3d)")
    one.add_argument(
        "--settle",
        type=seconds,
        metavar="TIME",
        help="how long what retired files require stays (default: 10m)",
    )
    one = commands.add_parser("add", **given, help="add a build to a stream")
    one.add_argument("--stream", required=True, help="the stream")
    one.add_argument("--older", action="store_true", help="the build belongs to an older line, and need not sort last")
    one.add_argument("--lock", type=Path, metavar="PYLOCK", help="pylock.toml of what else a closed stream needs")
    one.add_argument("dist", nargs="*", type=Path, metavar="DIST", help="directory of distributions, or a distribution")
    one = commands.add_parser("retire", **given, help="retire old builds of a stream")
    one.add_argument("--stream", required=True, help="the stream")
    one.add_argument("--older-than", type=seconds, required=True, metavar="TIME", help="age of what is retired: 30d")
    one.add_argument("--keep-last", type=int, default=1, metavar="N", help="how many builds stay anyway (default: 1)")
    commands.add_parser("check", **form, parents=[common], help="compare files, pages and requirements with the state")
    commands.add_parser("show", **form, parents=[common], help="list streams and builds")
    return result


def init(place: Place, arguments: Arguments) -> Callable[[Channel], ChannelChange]:
    """Return what makes of a channel one with the settings of the command line, and writes all pages again."""

    def plan(channel: Channel) -> ChannelChange:
        sources = dict(arguments.aggregates)
        wanted = [*arguments.streams, *arguments.closed, *map(stream_name, sources)]
        new = sorted(set(wanted) - channel.streams.keys())
        if taken := [name for name in new if not place.is_free(name)]:
            raise CannotRunError(
                f"{place.shown}: {taken[0]} is there, and is not of this channel. Move it away, or name another stream"
            )
        streams = {**channel.streams, **{name: StreamState(closed=name in arguments.closed) for name in new}}
        streams |= {name: replace(streams[name], sources=found) for name, found in sources.items()}
        given = {name: getattr(arguments, name) for name in ("title", "url", "grace", "settle")}
        settings = {name: value for name, value in given.items() if value is not None}
        owners = {**channel.owners, **dict(arguments.owners)}
        after = replace(channel, serial=channel.serial + 1, streams=streams, owners=owners, **settings)
        lines = [f"make   {name}/" for name in new] + [f"pages  {name}/" for name in streams if name not in new]
        return ChannelChange(after, dict.fromkeys(streams, GROW), lines=tuple(lines))

    return plan


def new_channel() -> Channel:
    """Return a channel without streams."""
    return Channel(serial=0, title="Packages", grace=3 * DAY, settle=600, url="", streams={})


def carry_out(place: Place, arguments: Arguments, plan: Callable[[Channel], ChannelChange]) -> int:
    """Change the channel, or say what would change."""
    made = plan(read_channel(place)[0]) if arguments.dry_run else change(place, arguments.wait, plan)
    if arguments.json:
        print(json.dumps(made.document(), indent=1))
        return OK
    if made.lines:
        print("\n".join(made.lines))
    done = "would change" if arguments.dry_run else "changed"
    print(f"{done} {', '.join(made.streams) or 'no pages'} of {place.shown}")
    return OK


def run_init(place: Place, arguments: Arguments) -> int:
    """Make the channel if there is none."""
    if not arguments.dry_run and place.read(CHANNEL) is None:
        with suppress(ChangedError):  # Somebody else was faster.
            place.write(CHANNEL, to_json(new_channel()), None)
    plan = init(place, arguments)
    if arguments.dry_run and place.read(CHANNEL) is None:
        print("\n".join(plan(new_channel()).lines))
        return OK
    return carry_out(place, arguments, plan)


def run_add(place: Place, arguments: Arguments) -> int:
    """Add a build."""
    sources = read_channel(place)[0].stream(arguments.stream).sources
    now = int(time.time())
    if bool(sources) == bool(arguments.dist):
        raise CannotRunError(f"--stream={arguments.stream}: name distributions, or, for an aggregate, none")
    if sources:
        others = listed_elsewhere(place, arguments.stream, sources)
        names = {file.name for file, _ in others}
        carry_out(place, arguments, lambda channel: add(channel, arguments.stream, (), now, others=others))
        return carry_out(place, arguments, lambda channel: keep(channel, arguments.stream, names, now))
    with tempfile.TemporaryDirectory(prefix="rocm-wheels-") as scratch:
        locked = fetch_locked(arguments.lock, Path(scratch)) if arguments.lock else ()
        files = read_local([*arguments.dist, *locked])
        return carry_out(
            place, arguments, lambda channel: add(channel, arguments.stream, files, now, older=arguments.older)
        )


def run_retire(place: Place, arguments: Arguments) -> int:
    """Retire builds."""
    if arguments.keep_last < 1:
        raise CannotRunError(f"--keep-last={arguments.keep_last}: expected at least 1: the newest build stays")
    selection = Selection(arguments.older_than, arguments.keep_last)
    now = int(time.time())

    def plan(channel: Channel) -> ChannelChange:
        ages = {path: one.age for path, one in place.list(STORE).items()}
        return retire(channel, arguments.stream, selection, now, ages)

    return carry_out(place, arguments, plan)


def run_check(place: Place, arguments: Arguments) -> int:
    """Say what is wrong."""
    channel, found = check(place)
    if arguments.json:
        print(json.dumps([{"kind": one.kind, "stream": one.stream, "said": one.said} for one in found], indent=1))
    else:
        for complaint in found:
            print(complaint)
        for kind in dict.fromkeys(one.kind for one in found):
            print(f"{kind}: {REMEDIES[kind]}")
        print(f"{place.shown}: {len(channel.files)} files, {len(found)} complaints")
    return FOUND if found else OK


def run_show(place: Place, arguments: Arguments) -> int:
    """List what there is."""
    channel, _ = read_channel(place)
    if arguments.json:
        print(to_json(channel).decode(), end="")
        return OK
    for name, stream in sorted(channel.streams.items()):
        closed = ", closed" if stream.closed else ""
        print(f"{name}: {len(stream.builds)} builds{closed}, at {channel.url}{name}/simple/")
        for build in stream.builds:
            versions = ", ".join(sorted({channel.files[one].version for one in build.files}))
            size = size_text(sum(channel.files[one].size for one in build.files))
            going = ", retired" if stream.leaving.keys() & build.files.keys() else ""
            print(f"  {time_text(build.added)}  {versions}: {len(build.files)} files, {size}{going}")
    total = size_text(sum(one.size for one in channel.files.values() if not one.url))
    print(f"store: {len(channel.files)} files, {total}; {len(channel.gone)} are unlisted, for {channel.grace} s")
    return OK


COMMANDS: Final = {"init": run_init, "add": run_add, "retire": run_retire, "check": run_check, "show": run_show}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    arguments = Arguments(**vars(parser().parse_args(argv)))

    def work() -> int:
        return COMMANDS[arguments.command](make_place(arguments.channel, arguments.endpoint_url), arguments)

    interrupted = "what is listed is whole, and the next call completes this one"
    return run_command(f"rocm-wheels channel {arguments.command}", work, interrupted=interrupted)


if __name__ == "__main__":
    sys.exit(main())
