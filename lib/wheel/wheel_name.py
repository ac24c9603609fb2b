"""The names of a wheel: of its file, and of the two directories in it that have its version in their names."""

from dataclasses import dataclass
from typing import Final

from packaging.utils import canonicalize_name
from packaging.version import Version


@dataclass(frozen=True)
class WheelName:
    """A wheel's names: `{distribution}-{version}-{tags}.whl`, and `{base}.dist-info` and `{base}.data` in it."""

    distribution: str
    """As the file name has it."""
    version: Version
    tags: str
    """Of Python, ABI and platform; the build tag, if there is one, in front."""
    base: str

    @property
    def filename(self) -> str:
        """The file name."""
        return f"{self.distribution}-{self.version}-{self.tags}.whl"

    @property
    def dist_info(self) -> str:
        """The directory of the metadata."""
        return f"{self.base}.dist-info"

    def path_from(self, path: str, old: "WheelName") -> str:
        """Return where a file of the wheel `old` lies in this one: the names of two directories have the version."""
        top, slash, rest = path.partition("/")
        if slash and top == old.dist_info:
            return f"{self.dist_info}/{rest}"
        is_data = top.endswith(".data") and canonicalize_name(top.removesuffix(".data")) == canonicalize_name(old.base)
        return f"{self.base}.data/{rest}" if slash and is_data else path


def read_name(filename: str, dist_info: str, version: Version) -> WheelName:
    """Return the names of a wheel whose file name is valid, given its .dist-info directory."""
    distribution, _, *tags = filename.removesuffix(".whl").split("-")
    return WheelName(distribution, version, "-".join(tags), dist_info.removesuffix(".dist-info"))


def with_local(name: WheelName, label: str) -> WheelName:
    """Return the names of a wheel with `label` added to the local version."""
    local = ".".join([*([name.version.local] if name.version.local else []), label.replace("-", ".")])
    version = Version(f"{name.version.public}+{local}")
    return WheelName(name.distribution, version, name.tags, f"{name.base.rpartition('-')[0]}-{version}")


#: So many numbers a release has at least in a label.
_NUMBERS: Final = 3


def sortable_label(word: str, version: Version) -> str:
    """Return a label of a local version that sorts as a version does: `sdk.7.10.0.0` of 7.10.0.

    Installers compare local versions part by part (PEP 440): numbers by value, text as text, so `sdk7.15` is newer than
    `sdk10.1`. A number is newer than text, and of two that begin alike the longer one is newer. So text and numbers are
    parts of their own, and a 0 stands where a pre-release has text: `sdk.7.10.0.pre.rc.2.0` is 7.10.0rc2, and
    `sdk.7.10.0.dev.0` is 7.10.0.dev0. All text that may follow a whole version sorts behind the GPU (`gfx942`) that
    follows it in the wheels of `rocm-wheels split`.
    """
    release = list(version.release)
    while len(release) > _NUMBERS and not release[-1]:
        release.pop()
    parts: list[object] = [f"{word}{version.epoch:04}" if version.epoch else word]
    parts += release + [0] * (_NUMBERS - len(release))
    parts += ["pre", *version.pre] if version.pre else []
    parts += [0, "post", version.post] if version.post is not None else []
    parts += [0] if version.dev is None else ["dev", version.dev]
    for part in version.local.split(".") if version.local else ():
        parts += ["local", part]
    return ".".join(map(str, parts))
