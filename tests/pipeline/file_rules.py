"""What the documentation says of one file, one pattern, one GPU target.

`tests.pipeline.expected` says by it what has to come of an SDK.
"""

import fnmatch
import posixpath

from tests.pipeline.sdk import NAMED_TARGETS, SPIRV, TORN, Content, Data, Elf, File, Form, Other, Package

#: Generic processors, and of those that SDKs have code for, what each stands for.
COVERED = {"gfx10-3-generic": ("gfx1030",), "gfx9-generic": ("gfx906",)}
#: Names that say that files are data; nobody looks into these.
DATA = (".h", ".txt", ".kdb")
#: What a part of a library's version consists of; it begins with a digit.
VERSION_CHARACTERS = "0123456789abcdefghijklmnopqrstuvwxyz_+-"


def matches(path: str, pattern: str) -> bool:
    """Whether a glob pattern means a path: `**` stands for any directories."""
    if "**" not in pattern:
        return path.count("/") == pattern.count("/") and fnmatch.fnmatchcase(path, pattern)
    head, _, rest = pattern.partition("**")
    parts = path.split("/")
    starts = [at for at in range(len(parts) + 1) if fnmatch.fnmatchcase("/".join(parts[:at]), head.rstrip("/"))]
    if not rest:
        return any(0 < at < len(parts) or not head for at in starts)
    return any(matches("/".join(parts[at:]), rest.lstrip("/")) for first in starts for at in range(first, len(parts)))


def loads(target: str, code: str) -> bool:
    """Whether a GPU loads code that was made for a target: docs/rocm/packages.md, "Thin packages"."""
    processor, *features = code.split(":")
    gpu, *has = target.split(":")
    contrary = {f"{one[:-1]}{'+' if one.endswith('-') else '-'}" for one in features}
    return code == SPIRV or ((gpu == processor or gpu in COVERED.get(processor, ())) and not contrary & set(has))


def named_targets(path: str) -> tuple[str, ...]:
    """Return the GPU targets in the last part of a path that names any."""
    return next(filter(None, (NAMED_TARGETS.get(part, ()) for part in reversed(path.split("/")))), ())


def has_code(path: str, content: Content | None) -> bool:
    """Whether a content has device code, as far as anybody looks at a file of that name."""
    return isinstance(content, Other) and content.has_code and not path.endswith(DATA)


def kept_code(package: Package, path: str, content: Content) -> tuple[str, ...]:
    """Return the targets of the code that a package keeps of a content."""
    assert isinstance(content, Other)
    if package.slice is None or not has_code(path, content):
        return content.targets
    return tuple(code for code in content.targets if any(loads(target, code) for target in package.slice.targets))


def is_library(path: str, content: Content) -> bool:
    """Whether a content is a shared library, as far as anybody looks at a file of that name."""
    if path.endswith(DATA):
        return False
    return not content.program if isinstance(content, Elf) else is_form(content, Form.FAT_LIBRARY)


def is_form(content: Content, form: Form) -> bool:
    """Whether a content is an other file of this form."""
    return isinstance(content, Other) and content.form is form


def is_program(path: str, file: File) -> bool:
    """Whether a link to a file becomes a launcher."""
    if path.endswith(DATA):
        return False
    if isinstance(file.content, Data):
        return file.content.is_script and file.executable
    return file.content.program if isinstance(file.content, Elf) else is_form(file.content, Form.STATIC)


def is_broken(path: str, content: Content) -> bool:
    """Whether a file cannot be what its first bytes, or its name, say that it is."""
    if path.endswith(DATA) or not isinstance(content, Data) or content == Data(TORN):
        return False
    name, _ = split_version(posixpath.basename(path))
    return content.data == b"\x7fELF" or (name.startswith("lib") and name.endswith(".so") and len(name) > len("lib.so"))


def split_version(name: str) -> tuple[str, str]:
    """Return the name of a library without its version, and the version; of another file, its name."""
    parts = name.split(".")
    at = len(parts)
    while at > 1 and parts[at - 1][:1].isdecimal() and not set(parts[at - 1].lower()) - set(VERSION_CHARACTERS):
        at -= 1
    is_library = parts[at - 1] == "so" and at > 1
    return (".".join(parts[:at]), ".".join(parts[at:])) if is_library else (name, "")


def soname_of(path: str, content: Content) -> str | None:
    """Return the SONAME of a library."""
    return content.soname if isinstance(content, Elf | Other) and is_library(path, content) else None


def same_bytes(one: Content, other: Content) -> bool:
    """Whether two contents are the same bytes."""
    return one == other or one.build() == other.build()


def looks_like(one: Content, other: Content) -> bool:
    """Whether two libraries agree in size and in what they say of themselves; the rest shows when wheels are linked."""
    if not isinstance(one, Elf) or not isinstance(other, Elf):
        return type(one) is type(other)
    said = ("soname", "needed", "rpath", "runpath", "machine", "versions")
    return len(one.build()) == len(other.build()) and all(getattr(one, name) == getattr(other, name) for name in said)
