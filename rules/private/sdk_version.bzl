"""sdk_version: the version of every distribution, from a base and the kind of build."""

load("@bazel_skylib//rules:common_settings.bzl", "BuildSettingInfo", "string_flag")
load("//rules/private/common:version_suffix.bzl", "check_version", "version_suffix")
load("//rules/shared:names.bzl", "shown")

visibility(["//rules"])

# The kinds of version that `sdk_version` knows.
KINDS = ["dev", "nightly", "bkc", "prerelease", "release"]

# The serial that stands for the current commit, or for its date.
_STAMP = "stamp"
_DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

def _refuse(ctx, serial, expected, example):
    flag = shown(ctx.attr.serial.label)
    remedy = "Set --{}={}".format(flag, example) if example else "Leave out --{}, or choose another kind with --{}=KIND".format(flag, shown(ctx.attr.kind.label))
    fail("{}: version kind `{}` with serial {}: expected {}. {}".format(shown(ctx.label), ctx.attr.kind[BuildSettingInfo].value, repr(serial), expected, remedy))

def _stamp(ctx, serial, stamp, expected, example):
    """Returns the stamp; fails if it is unknown."""
    if not stamp:
        _refuse(ctx, serial, expected + ", as the commit is not known: `commit` and `commit_date` are empty", example)
    return stamp

def _is_date(text):
    if len(text) != 8 or not text.isdigit():
        return False
    month, day = int(text[4:6]), int(text[6:])
    return month >= 1 and month <= 12 and day >= 1 and day <= _DAYS[month - 1]

def _dev(ctx, base, serial):
    expected = "a commit, of 7 to 40 hexadecimal digits in lower case"
    example = "efed3c3b10a5"
    if not serial:
        return base + ".dev0"
    date, _, commit = serial.rpartition(".")
    if serial == _STAMP:
        commit = _stamp(ctx, serial, ctx.attr.commit, expected, example)
    if commit.strip("0123456789abcdef") or len(commit) < 7 or len(commit) > 40 or (date and not _is_date(date)):
        _refuse(ctx, serial, expected + ", which may follow its date (20251021.efed3c3b10a5), or `stamp` for the commit that is checked out, or nothing", example)

    # Hashes have no order, so the date comes first.
    if not date and ctx.attr.commit.startswith(commit):
        date = ctx.attr.commit_date
    return "{}.dev0+{}g{}".format(base, date + "." if date else "", commit)

def _nightly(ctx, base, serial):
    expected = "a date, YYYYMMDD"
    date = _stamp(ctx, serial, ctx.attr.commit_date, expected, "20251021") if serial in ["", _STAMP] else serial
    if not _is_date(date):
        _refuse(ctx, serial, expected + ", or `stamp` for the date of the commit", "20251021")
    return "{}a{}".format(base, date)

def _bkc(ctx, base, serial):
    nightly, _, date = serial.partition(".")
    if not _is_date(nightly) or not _is_date(date):
        _refuse(ctx, serial, "the date of the nightly that the build is based on and the date of the build, YYYYMMDD.YYYYMMDD", "20260811.20260814")
    return "{}a{}+bkc.{}".format(base, nightly, date)

def _prerelease(ctx, base, serial):
    if not serial.isdigit() or str(int(serial)) != serial:
        _refuse(ctx, serial, "the number of the release candidate, from 0 on, without leading zeros", "2")
    return "{}rc{}".format(base, serial)

def _release(ctx, base, serial):
    if serial:
        _refuse(ctx, serial, "no serial: a release is {} itself".format(base), None)
    return base

_FORMS = {"dev": _dev, "nightly": _nightly, "bkc": _bkc, "prerelease": _prerelease, "release": _release}

def _sdk_version_impl(ctx):
    base = ctx.attr.base
    if [part for part in base.split(".") if not part.isdigit()]:
        fail("{}: base {}: expected numbers separated by dots, such as 7.10.0. The kind adds the rest: --{}=KIND".format(shown(ctx.label), repr(base), shown(ctx.attr.kind.label)))
    version = ctx.build_setting_value or _FORMS[ctx.attr.kind[BuildSettingInfo].value](ctx, base, ctx.attr.serial[BuildSettingInfo].value)
    check_version(version, shown(ctx.label), shown(ctx.label))
    text = ctx.actions.declare_file(ctx.label.name + ".txt")
    ctx.actions.write(text, version + "\n")
    return [BuildSettingInfo(value = version), DefaultInfo(files = depset([text]))]

_sdk_version = rule(
    doc = "A build setting: the version given on the command line, else the version of the kind.",
    implementation = _sdk_version_impl,
    attrs = {
        "base": attr.string(mandatory = True, doc = "The release that this build leads to, `X.Y.Z`."),
        "commit": attr.string(doc = "The commit that `stamp` stands for, if known."),
        "commit_date": attr.string(doc = "Its date, YYYYMMDD, if known."),
        "kind": attr.label(mandatory = True, providers = [BuildSettingInfo], doc = "The build setting that holds the kind."),
        "serial": attr.label(mandatory = True, providers = [BuildSettingInfo], doc = "The build setting that holds the serial."),
    },
    build_setting = config.string(flag = True),
)

def sdk_version(name, base, kind = "dev", serial = "", version = "", commit = "", commit_date = "", **kwargs):
    """Declares the version of every distribution, as build settings.

    | setting | meaning |
    |---|---|
    | `{name}_kind` | `dev`, `nightly`, `bkc`, `prerelease` or `release` |
    | `{name}_serial` | the date and commit (dev), date (nightly), two dates (bkc) or number (prerelease) |
    | `{name}` | overrides both: a complete version, in the normal form of PEP 440 |
    | `{name}_suffix` | suffix of the names of trees, to install two versions side by side; empty for none |

    Pass `{name}` as `version` and `{name}_suffix` as `version_suffix`. Building `{name}` writes the version to
    `{name}.txt`.

    | kind | serial | version |
    |---|---|---|
    | `dev` | | `7.10.0.dev0` |
    | `dev` | date and commit, or `stamp` | `7.10.0.dev0+20251021.gefed3c3b10a5` |
    | `dev` | commit; its date is added if it is checked out | `7.10.0.dev0+gefed3c3b10a5` |
    | `nightly` | date; `stamp` or nothing for the date of the commit | `7.10.0a20251021` |
    | `bkc` | dates of the nightly and of the build | `7.10.0a20260811+bkc.20260814` |
    | `prerelease` | number | `7.10.0rc2` |
    | `release` | | `7.10.0` |

    Args:
        name: name of the version, and prefix of the other settings.
        base: the next release, `X.Y.Z`. The tag `rocm.version` reads it from a file.
        kind: default of `{name}_kind`.
        serial: default of `{name}_serial`.
        version: default of `{name}`: a complete version that overrides kind and serial, or empty.
        commit: the commit that `stamp` stands for.
        commit_date: date of the commit, YYYYMMDD.
        **kwargs: attributes that all rules have, such as `visibility`.
    """
    string_flag(name = name + "_kind", build_setting_default = kind, values = KINDS, **kwargs)
    string_flag(name = name + "_serial", build_setting_default = serial, **kwargs)
    version_suffix(name = name + "_suffix", build_setting_default = "", **kwargs)
    _sdk_version(
        name = name,
        base = base,
        build_setting_default = version,
        commit = commit,
        commit_date = commit_date,
        kind = name + "_kind",
        serial = name + "_serial",
        **kwargs
    )
