"""A small set of distributions as link and sdist leave them, and their index as the tool makes it; for the tests.

dist = Sample(directory).add_sdk().build()
"""

import hashlib
import html.parser
import json
from pathlib import Path
from typing import Any, Self

from lib.wheel.variant_format import variant_json
from tools.actions.index.tool import main

ROOM = Path(__file__).parents[2] / "lib/index"
VERSION = "7.0"
SDIST, STATIC_WHEEL = "rocm-7.0.tar.gz", "rocm-7.0-py3-none-any.whl"
CORE = "rocm_sdk_core-7.0-py3-none-linux_x86_64.whl"
LIBRARIES = "rocm_sdk_libraries-7.0-py3-none-linux_x86_64.whl"
DEVICES = [f"rocm_sdk_device_{target}-7.0-py3-none-linux_x86_64.whl" for target in ("gfx1100", "gfx942")]
#: Libraries with the code for one target inside, by target.
THIN = {one: f"rocm_sdk_libraries_{one}-7.0-py3-none-linux_x86_64.whl" for one in ("gfx90a", "gfx1030")}
#: Sizes in bytes. No test compares them with the files.
SIZES = {SDIST: 40_000, STATIC_WHEEL: 30_000, CORE: 400_000_000, LIBRARIES: 100_000_000}
SIZES |= dict(zip([*DEVICES, *THIN.values()], (50_000_000, 70_000_000, 250_000_000, 150_000_000), strict=True))
SELECTOR = {
    "default_target": "gfx942",
    "layout": "split",
    "packages": {
        "core": {"distribution": "rocm-sdk-core"},
        "device": {"distribution": "rocm-sdk-device-{target}"},
        "libraries": {"distribution": "rocm-sdk-libraries"},
    },
    "targets": ["gfx1100", "gfx942"],
}
#: What brings what, in the static wheel.
EXTRAS = {"libraries": ["libraries"]} | {
    f"device-{one}": ["libraries", f"device-{one}"] for one in ("gfx1100", "gfx942")
}


def _thin(target: str) -> str:
    return f"rocm-sdk-libraries-{target}"


def sha256(content: bytes) -> str:
    """Return a digest in hex."""
    return hashlib.sha256(content).hexdigest()


class Sample:
    """Distributions in a directory, and the arguments that name them to the tool."""

    def __init__(self, directory: Path) -> None:
        """Begin without any."""
        self.directory = directory
        self.arguments = ["--label=//:dist", "--title=Sample", f"--style={ROOM / 'page.css'}"]
        self.arguments += [f"--script={ROOM / 'page.js'}", f"--output={directory / 'dist'}"]

    def add(self, filename: str, *fields: str, project: str = "", version: str = VERSION, static: bool = False) -> Self:
        """Add a distribution; `fields` are lines of its core metadata, further ones than name and version."""
        path = self.directory / ("static" if static else "main") / filename
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(filename.encode())
        name = project or filename.partition("-")[0].replace("_", "-")
        lines = ["Metadata-Version: 2.4", f"Name: {name}", f"Version: {version}", *fields]
        Path(f"{path}.in").write_text("\n".join([*lines, "", "A description."]))
        digest = {"filename": filename, "size": SIZES.get(filename, 1000), "sha256": sha256(path.read_bytes())}
        Path(f"{path}.json").write_text(json.dumps(digest))
        self.arguments += [f"--distribution={path}", f"--metadata={path}.in", f"--digest={path}.json"]
        self.arguments += [f"--static={path}"] if static else []
        return self

    def add_sdk(self) -> Self:
        """Add a small SDK in the split layout, with its selector as an sdist and as a static wheel."""
        core, libraries = f"rocm-sdk-core=={VERSION}", f"rocm-sdk-libraries=={VERSION}"
        common = ("Requires-Python: >=3.9", "License-Expression: MIT", "Project-URL: Source, https://example.com/a?b&c")
        self.add(CORE, "Summary: Runtime & compiler", *common)
        self.add(LIBRARIES, "Summary: Libraries", f"Requires-Dist: {core}", *common)
        for device in DEVICES:
            self.add(device, "Summary: Device code", f"Requires-Dist: {libraries}", *common)
        self.add(SDIST, "Dynamic: Requires-Dist", "Dynamic: Provides-Extra", "Summary: The selector", *common)
        extras = [
            line
            for extra, names in EXTRAS.items()
            for line in (
                f"Provides-Extra: {extra}",
                *(f'Requires-Dist: rocm-sdk-{name}=={VERSION}; extra == "{extra}"' for name in names),
            )
        ]
        self.add(STATIC_WHEEL, "Summary: The selector", f"Requires-Dist: {core}", *extras, *common, static=True)
        return self.select(SELECTOR)

    def add_variant(self, label: str, *targets: str, filename: str = "") -> Self:
        """Add a wheel variant of the selector."""
        filename = filename or STATIC_WHEEL.replace(".whl", f"-{label}.whl")
        pin = f'Requires-Dist: rocm-sdk-device-{label}=={VERSION}; extra == "device"'
        self.add(filename, "Summary: The selector", "Provides-Extra: device", pin)
        path = self.directory / "main" / f"{filename}.variant.json"
        path.write_bytes(variant_json(label, targets))
        self.arguments.append(f"--variant={self.directory / 'main' / filename}={path}")
        return self

    def add_thin_sdk(self) -> Self:
        """Add a small SDK in the thin layout, with its selector as an sdist and as a static wheel."""
        core = f"rocm-sdk-core=={VERSION}"
        self.add(CORE, "Summary: Runtime").add(SDIST, "Dynamic: Requires-Dist", "Dynamic: Provides-Extra")
        extras = []
        for target, wheel in THIN.items():
            self.add(wheel, f"Summary: Libraries for {target}", f"Requires-Dist: {core}", project=_thin(target))
            pin = f'{_thin(target)}=={VERSION}; extra == "libraries-{target}"'
            extras += [f"Provides-Extra: libraries-{target}", f"Requires-Dist: {pin}"]
        self.add(STATIC_WHEEL, f"Requires-Dist: {core}", *extras, static=True)
        packages = {"core": {"distribution": "rocm-sdk-core"}, "libraries": {"distribution": _thin("{target}")}}
        targets = {"targets": list(THIN), "default_target": "gfx90a"}
        return self.select({"layout": "thin", "packages": packages, **targets})

    def select(self, document: dict[str, Any]) -> Self:
        """Say what the selector knows; trees are called as distributions are."""
        packages = {role: {"tree": names["distribution"], **names} for role, names in document["packages"].items()}
        document = {"version": VERSION, **document, "packages": packages}
        path = self.directory / "distributions.json"
        path.write_text(json.dumps(document))
        self.arguments.append(f"--selector={path}")
        return self

    def run(self) -> int:
        """Run the tool; return its exit code."""
        return main(self.arguments)

    def build(self) -> Path:
        """Run the tool, which has to succeed; return the directory that it made."""
        assert self.run() == 0
        return self.directory / "dist"


class Page(html.parser.HTMLParser):
    """A page as it is read back: its elements with their attributes and their text."""

    def __init__(self) -> None:
        """Begin with nothing read."""
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.texts: list[str] = []
        self._open: list[int] = []

    @classmethod
    def of(cls, text: str) -> Self:
        """Read a page."""
        page = cls()
        page.feed(text)
        page.close()
        assert not page._open, "elements without an end"
        return page

    @classmethod
    def at(cls, path: Path) -> Self:
        """Read a page from a file."""
        return cls.of(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep an element."""
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        self.texts.append("")
        if tag not in ("br", "link", "meta"):
            self._open.append(len(self.texts) - 1)

    def handle_endtag(self, tag: str) -> None:
        """Check that it is the end of the element that was begun last."""
        assert self.elements[self._open.pop()][0] == tag

    def handle_data(self, data: str) -> None:
        """Keep text, of each element that it is in."""
        for number in self._open:
            self.texts[number] += data

    def attributes(self, tag: str) -> list[dict[str, str]]:
        """Return the attributes of all elements with a tag."""
        return [attributes for name, attributes in self.elements if name == tag]

    def text_of(self, tag: str) -> list[str]:
        """Return the texts of all elements with a tag, blanks folded."""
        pairs = zip(self.elements, self.texts, strict=True)
        return [" ".join(text.split()) for (name, _), text in pairs if name == tag]

    def file_links(self) -> list[dict[str, str]]:
        """Return the links that have a digest."""
        return [link for link in self.attributes("a") if "#sha256=" in link["href"]]
