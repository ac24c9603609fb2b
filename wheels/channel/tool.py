r"""Publishes builds in a channel: one store of files, several streams.

A stream, such as nightly or stable, is an index for pip and uv.

    rocm-wheels channel init     --channel PLACE --stream nightly
    rocm-wheels channel add      --channel PLACE --stream nightly dist/
    rocm-wheels channel retire   --channel PLACE --stream nightly \
                                 --older-than 30d --keep-last 3
    rocm-wheels channel promote  --channel PLACE 10.1.0rc2 \
                                 --from rc --to stable dist/
    rocm-wheels channel withdraw --channel PLACE 10.1.0 --stream stable
    rocm-wheels channel check    --channel PLACE
    rocm-wheels channel show     --channel PLACE

Every listed file can be installed at any moment, even after a command was
killed. A published file name never gets other bytes.
"""

import json
import os
import re
import sys
import tempfile
import time
from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from packaging.version import Version
from securesystemslib.signer import Signer

from lib.common.command import FOUND, OK, CannotRunError, CommandParser, exit_codes, run_command
from lib.common.documents import time_text
from lib.common.program import counted, size_text
from wheels.channel.change import change, read_channel
from wheels.channel.check import check
from wheels.channel.complaints import REMEDIES
from wheels.channel.local_files import read_build, read_local, signed
from wheels.channel.model import CHANNEL, DAY, JOURNAL, LOCK, METADATA, STORE, Channel, StreamState
from wheels.channel.place import ChangedError, Place, make_place
from wheels.channel.plan import GROW, UNITS, ChannelChange, add, keep, retire, withdraw
from wheels.channel.promotion.plan import Plan, Request, choose
from wheels.channel.signing import sign
from wheels.channel.sources import fetch_locked, listed_elsewhere
from wheels.channel.trust import Trust
from wheels.common.keys import load_public_key, signer

EPILOG: Final = """places:
  DIR                   a directory, which a web server can serve
  https://HOST/PATH     what a web server shows of one, for check --trust
  s3://BUCKET[/PREFIX]  a bucket of AWS, or with --endpoint-url of another
                        server. Credentials come from the environment:
                        AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY,
                        AWS_PROFILE, or the role of the machine

""" + exit_codes("done", "refused, or check has complaints: the message says what to do")
#: Arguments of an example for each command.
EXAMPLES: Final = {
    "init": "--channel s3://my-bucket/rocm --stream nightly",
    "add": "--channel s3://my-bucket/rocm --stream nightly dist/",
    "retire": "--channel PLACE --stream nightly --older-than 30d",
    "promote": "--channel PLACE 10.1.0rc2 --from rc --to stable",
    "withdraw": "--channel PLACE 10.1.0 --stream stable",
    "sign": "--channel PLACE --key release.pem",
    "check": "--channel s3://my-bucket/rocm",
    "show": "--channel s3://my-bucket/rocm",
}
#: Names at the top of a channel that no stream may have.
_TAKEN: Final = frozenset({STORE.rstrip("/"), METADATA.rstrip("/"), CHANNEL, JOURNAL, LOCK})
_SEEN: Final = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "rocm-wheels/seen"
NEW: Final = Channel(serial=0, title="Packages", grace=3 * DAY, settle=600, url="", streams={})


def _seconds(text: str) -> int:
    match = re.fullmatch(r"(\d+)([smhd])", text)
    if match is None:
        raise ArgumentTypeError(f"{text}: expected a number and s, m, h or d, such as 30d")
    return int(match[1]) * UNITS[match[2]]


def _stream_name(text: str) -> str:
    if not re.fullmatch(r"[a-z0-9][a-z0-9._-]*", text) or text in _TAKEN:
        raise ArgumentTypeError(f"{text}: expected a name of a stream, such as nightly")
    return text


def _version(text: str) -> Version:
    try:
        return Version(text)
    except ValueError:
        raise ArgumentTypeError(f"{text}: expected a version (PEP 440), such as 10.1.0rc2") from None


def _pair(text: str) -> tuple[str, tuple[str, ...]]:
    name, _, items = text.partition("=")
    if not name or not items:
        raise ArgumentTypeError(f"{text}: expected NAME=ITEM,ITEM, such as rocm=rocm,rocm-sdk-* or all=../nightly/")
    return name, tuple(items.split(","))


def _aggregate(text: str) -> tuple[str, tuple[str, ...]]:
    return _stream_name(_pair(text)[0]), _pair(text)[1]


def parser() -> CommandParser:
    """Make the command line parser."""
    common, waiting, changing = (CommandParser(add_help=False) for _ in range(3))
    common.add_argument("--channel", required=True, metavar="PLACE", help="where the channel is: a directory or bucket")
    common.add_argument("--endpoint-url", default="", metavar="URL", help="URL of an S3 server other than AWS's")
    common.add_argument("--json", action="store_true", help="print a JSON document")
    changing.add_argument("--dry-run", action="store_true", help="print what would change, and change nothing")
    wait = "how long to wait for another writer (default: 10m)"
    waiting.add_argument("--wait", type=_seconds, default=600, metavar="TIME", help=wait)
    result = CommandParser("rocm-wheels channel", description=__doc__, epilog=EPILOG)
    commands = result.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(
        name: str, work: Callable[[Place, Namespace], int], text: str, also: Sequence[Any] = (waiting, changing)
    ) -> Any:
        about, example = f"{text[0].upper()}{text[1:]}.", f"example:\n  rocm-wheels channel {name} {EXAMPLES[name]}"
        texts: dict[str, Any] = {"help": text, "description": about, "epilog": f"{example}\n\n{EPILOG}"}
        one = commands.add_parser(name, parents=[common, *also], **texts)
        one.set_defaults(work=work)
        return one.add_argument

    def sign_with(option: Any, *, required: bool = False) -> None:
        text = "key in PEM that signs; with --sign-command, the public one"
        option("--key", type=Path, required=required, metavar="FILE", help=text)
        text = "signs instead: gets bytes on its standard input, and prints the signature, as it is or in base64"
        option("--sign-command", default="", metavar="COMMAND", help=text)

    many: dict[str, Any] = {"action": "append", "default": []}
    option = command("init", _init, "make a channel, add streams, or write all pages again")
    one: dict[str, Any] = {"type": _stream_name, "metavar": "STREAM"}
    option("--stream", dest="streams", **many, **one, help="a stream to make")
    option("--closed", **many, **one, help="a stream that must contain everything its packages require")
    text = "patterns of names that only this owner's packages may have"
    option("--owner", dest="owners", **many, type=_pair, metavar="OWNER=NAME,…", help=text)
    text = "a stream that lists others, by path or URL: all=../nightly/,https://example.com/torch/stable/"
    option("--aggregate", dest="aggregates", **many, type=_aggregate, metavar="STREAM=SOURCE,…", help=text)
    option("--url", help="URL under which a server offers the channel")
    option("--grace", type=_seconds, metavar="TIME", help="how long files stay after they are unlisted (default: 3d)")
    text = "how long files stay that only retired files require (default: 10m)"
    option("--settle", type=_seconds, metavar="TIME", help=text)
    option = command("add", _add, "add a build to a stream")
    option("--stream", required=True, help="the stream")
    option("--older", action="store_true", help="the build belongs to an older line, and need not sort last")
    option("--lock", type=Path, metavar="PYLOCK", help="pylock.toml with files that a closed stream also needs")
    sign_with(option)
    text = "directory of distributions, or of their statements, or a distribution"
    option("dist", nargs="*", type=Path, metavar="DIST", help=text)
    option = command("retire", _retire, "retire old builds of a stream")
    option("--stream", required=True, help="the stream")
    option(
        "--older-than", type=_seconds, required=True, metavar="TIME", help="retire builds that are older, such as 30d"
    )
    option("--keep-last", type=int, default=1, metavar="N", help="builds that stay, however old (default: 1)")
    option = command("promote", _promote, "turn a candidate into a release, proven equal except for the version")
    option("version", type=_version, metavar="VERSION", help="version of the candidate, such as 10.1.0rc2")
    option("--from", dest="stream", required=True, metavar="STREAM", help="the stream of the candidate")
    option("--to", required=True, metavar="STREAM", help="the stream of the release")
    text = "version of the release (default: 10.1.0 for 10.1.0rc2); if it is the candidate's, no file changes"
    option("--version", dest="new", type=_version, metavar="VERSION", help=text)
    text = "file in a wheel that contains the candidate's version as text, such as torch/version.py"
    option("--rewrite", dest="members", **many, metavar="MEMBER", help=text)
    names = "only these packages, such as rocm or 'rocm-sdk-*' (default: all with the version)"
    option("--project", dest="projects", **many, metavar="NAME", help=names)
    option("--older", action="store_true", help="the release belongs to an older line, and need not sort last")
    sign_with(option)
    text = "distributions that were built again, with the release's version"
    option("dist", nargs="*", type=Path, metavar="DIST", help=text)
    option = command("withdraw", _withdraw, "withdraw (yank) a version: only users who pin it still get it (PEP 592)")
    option("version", type=_version, metavar="VERSION", help="the version")
    option("--stream", required=True, help="the stream")
    option("--reason", default="", metavar="TEXT", help="reason, which installers show")
    option("--project", dest="projects", **many, metavar="NAME", help=names)
    option("--undo", action="store_true", help="offer it again")
    option = command("sign", _sign, "sign the state, so that others notice what is not yours", [waiting])
    sign_with(option, required=True)
    text = "how long clients take it for the newest state (default: 7d)"
    option("--expires", type=_seconds, default=7 * DAY, metavar="TIME", help=text)
    option = command("check", _check, "compare files, pages and requirements with the state", [])
    option("--trust", type=Path, metavar="FILE", help="PEM of the public key that has to have signed all that is there")
    text = "directory of what --trust has seen (default: ~/.cache/rocm-wheels/seen)"
    option("--seen", type=Path, default=_SEEN, metavar="DIR", help=text)
    command("show", _show, "list streams and builds", [])
    return result


def _carry_out(place: Place, given: Namespace, *plans: Plan, new: Channel | None = None) -> int:
    """Change the channel, or a `new` one, or say what would change: one change after the other."""
    if new and not given.dry_run:
        with suppress(ChangedError):  # There is one already.
            place.write(CHANNEL, new.to_json(), None)
    made: list[ChannelChange] = []
    for plan in plans:
        now = made[-1].after if made else read_channel(place, new)[0]
        made.append(plan(now) if given.dry_run else change(place, given.wait, plan))
    document: dict[str, Any] = {"serial": made[-1].after.serial}
    names = dict.fromkeys(name for one in made for name in one.streams)
    document["streams"] = {name: ", ".join(one.streams[name] for one in made if name in one.streams) for name in names}
    document["files"] = [name for one in made for name in one.names]
    document["deletes"] = [path for one in made for path in one.deletes]
    document["lines"] = [line for one in made for line in one.lines]
    done = "would change" if given.dry_run else "changed"
    text = "\n".join([*document["lines"], f"{done} {', '.join(names) or 'no pages'} of {place.shown}"])
    print(json.dumps(document, indent=1) if given.json else text)
    return OK


def _init(place: Place, given: Namespace) -> int:
    """Make of a channel one with the settings of the command line, and write all pages again."""

    def plan(channel: Channel) -> ChannelChange:
        sources = dict(given.aggregates)
        new = sorted({*given.streams, *given.closed, *sources} - channel.streams.keys())
        if taken := [name for name in new if not place.is_free(name)]:
            said = f"{place.shown}: {taken[0]} is there, and is not of this channel"
            raise CannotRunError(f"{said}. Move it away, or name another stream")
        streams = {**channel.streams, **{name: StreamState(closed=name in given.closed) for name in new}}
        streams |= {name: replace(streams[name], sources=found) for name, found in sources.items()}
        settings = {name: getattr(given, name) for name in ("url", "grace", "settle")}
        settings = {name: value for name, value in settings.items() if value is not None}
        owners = {**channel.owners, **dict(given.owners)}
        after = replace(channel, serial=channel.serial + 1, streams=streams, owners=owners, **settings)
        lines = [f"make   {name}/" for name in new] + [f"pages  {name}/" for name in streams if name not in new]
        return ChannelChange(after, dict.fromkeys(streams, GROW), lines=tuple(lines))

    return _carry_out(place, given, plan, new=NEW)


def _signer(given: Namespace) -> Signer | None:
    """Return what signs, if the command line names a key."""
    if given.sign_command and not given.key:
        raise CannotRunError("--sign-command: expected --key, too, with the public key of what it signs")
    return signer(given.key, given.sign_command) if given.key else None


def _add(place: Place, given: Namespace) -> int:
    sources = read_channel(place)[0].stream(given.stream).sources
    now = int(time.time())
    if bool(sources) == bool(given.dist):
        raise CannotRunError(f"--stream={given.stream}: name distributions, or, for an aggregate, none")
    if sources:
        others = listed_elsewhere(place, given.stream, sources)
        names = {file.filename for file, _ in others}
        grow: Plan = lambda channel: add(channel, given.stream, (), now, others=others)  # noqa: E731
        return _carry_out(place, given, grow, lambda channel: keep(channel, given.stream, names, int(time.time())))
    with tempfile.TemporaryDirectory(prefix="rocm-wheels-") as scratch:
        locked = fetch_locked(given.lock, Path(scratch)) if given.lock else ()
        files = signed(read_build(given.dist, locked), given.dist, _signer(given))
        return _carry_out(place, given, lambda channel: add(channel, given.stream, files, now, older=given.older))


def _retire(place: Place, given: Namespace) -> int:
    if given.keep_last < 1:
        raise CannotRunError(f"--keep-last={given.keep_last}: expected at least 1: the newest build stays")

    def plan(channel: Channel) -> ChannelChange:
        ages = {path: one.age for path, one in place.list(STORE).items()}
        return retire(channel, given.stream, given.older_than, given.keep_last, int(time.time()), ages)

    return _carry_out(place, given, plan)


def _promote(place: Place, given: Namespace) -> int:
    options = tuple(given.members), given.older, tuple(given.projects)
    request = Request(given.stream, given.to, given.version, given.new, *options)
    now = int(time.time())
    with tempfile.TemporaryDirectory(prefix="rocm-wheels-") as scratch:
        files = signed(read_local(given.dist), given.dist, _signer(given)) if given.dist else []
        chosen = choose(read_channel(place)[0], request)
        return _carry_out(place, given, chosen.prepare(place, files, Path(scratch), now))


def _withdraw(place: Place, given: Namespace) -> int:
    if bool(given.reason.strip()) == given.undo:
        raise CannotRunError("--reason: expected a reason, which installers show; or --undo without one")
    options = given.version, given.reason, given.projects
    return _carry_out(place, given, lambda channel: withdraw(channel, given.stream, *options))


def _sign(place: Place, given: Namespace) -> int:
    channel = sign(place, given.wait, signer(given.key, given.sign_command), given.expires)
    until = time_text(time.time() + given.expires)
    document = {"serial": channel.serial, "expires": until}
    print(json.dumps(document) if given.json else f"signed serial {channel.serial} of {place.shown}, until {until}")
    return OK


def _check(place: Place, given: Namespace) -> int:
    """Say what is wrong."""
    channel, found = check(place, Trust(load_public_key(given.trust), given.seen) if given.trust else None)
    if given.json:
        print(json.dumps([vars(one) for one in found], indent=1))
    else:
        kinds = dict.fromkeys(one.kind for one in found)
        lines = [*map(str, found), *(f"remedy for {kind}: {REMEDIES[kind]}" for kind in kinds)]
        counts = f"{counted(len(channel.files), 'file')}, {counted(len(found), 'complaint')}"
        print("\n".join([*lines, f"{place.shown}: {counts}"]))
    return FOUND if found else OK


def _show(place: Place, given: Namespace) -> int:
    """List what there is."""
    channel, _ = read_channel(place)
    if given.json:
        print(channel.to_json().decode(), end="")
        return OK
    for name, stream in sorted(channel.streams.items()):
        closed = ", closed" if stream.closed else ""
        print(f"{name}: {counted(len(stream.builds), 'build')}{closed}, at {channel.url}{name}/simple/")
        for build in stream.builds:
            versions = ", ".join(sorted({str(channel.files[one].version) for one in build.files}))
            size = size_text(sum(channel.files[one].size for one in build.files))
            due = [stream.leaving[one] for one in build.files if one in stream.leaving]
            going = f", leaving until {time_text(max(due))}" if due else ""
            going += ", withdrawn" if stream.withdrawn.keys() & build.files.keys() else ""
            going += f", from {build.promoted.version} of {build.promoted.stream}" if build.promoted else ""
            print(f"  {time_text(build.added)}  {versions}: {counted(len(build.files), 'file')}, {size}{going}")
    total = size_text(sum(one.size for one in channel.files.values() if not one.url))
    unlisted = f"; {len(channel.gone)} unlisted" if channel.gone else ""
    print(f"store: {counted(len(channel.files), 'file')}, {total}{unlisted}")
    return OK


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    command_line = parser()
    # argparse knows no positional arguments behind options, if others stand before these.
    given, rest = command_line.parse_known_args(argv)
    if "dist" not in given or any(one.startswith("-") for one in rest):
        given = command_line.parse_args(argv)
    else:
        given.dist += map(Path, rest)
    interrupted = "what is listed is whole, and the next call completes this one"
    work = lambda: given.work(make_place(given.channel, given.endpoint_url), given)  # noqa: E731
    return run_command(f"rocm-wheels channel {given.command}", work, interrupted=interrupted)


if __name__ == "__main__":
    sys.exit(main())
