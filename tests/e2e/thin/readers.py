"""What device code a file holds, by readers that know nothing of each other. All must agree.

    readers = Readers(shim, program, folder)
    library = readers.library(path)

The readers are `lib.device`; LLVM's clang-offload-bundler; and the memory of a process that loads the library.
"""

from dataclasses import dataclass
from pathlib import Path

from tests.e2e.thin.bundler import Header, header, raw_bundles, take_apart
from tests.e2e.thin.code import Bundle, Code, held, same
from tests.e2e.thin.memory import fingerprint, handed


@dataclass(frozen=True)
class Library:
    """What a file holds, and what it hands to HIP if it is a library that is loaded, in the order of registration."""

    bundles: list[Bundle]
    handed: list[Bundle]
    #: How each bundle is compressed: the beginning of its header, or none.
    headers: list[Header | None]


@dataclass(frozen=True)
class Readers:
    """What reads device code: the preloaded library, the bundler's path, and an empty folder to write to."""

    shim: Path
    bundler: str
    scratch: Path

    def file(self, path: Path) -> Library:
        """Read a file in all ways but in memory. Ends the program unless they agree."""
        return self._read(path)[0]

    def library(self, path: Path, search: str = "") -> Library:
        """Read a library in all ways; `search` has folders in which those are that it needs."""
        library, compressed = self._read(path)
        memory = [_resolve(path, bundle, compressed) for bundle in handed(path, self.shim, search)]
        same(f"{path.name}, in memory", held(path).handed(), sorted(memory))
        return Library(library.bundles, memory, library.headers)

    def _read(self, path: Path) -> tuple[Library, dict[Code, Bundle]]:
        ours = held(path)
        theirs, headers, compressed = [], [], {}
        for data in raw_bundles(path):
            theirs.append(take_apart(data, self.scratch, self.bundler))
            headers.append(header(data))
            compressed[fingerprint(data)] = theirs[-1]
        same(f"{path.name}, by clang-offload-bundler", ours.bundles, theirs)
        return Library(ours.bundles, [], headers), compressed


def _resolve(path: Path, bundle: Bundle, compressed: dict[Code, Bundle]) -> Bundle:
    """Return what is in a bundle that was handed over; if it is compressed, the file's bundle with the same bytes."""
    if not any(code.is_whole for code in bundle):
        return bundle
    (code,) = bundle
    if code not in compressed:
        raise SystemExit(f"{path}: hands over a compressed bundle of {code.size} bytes that the file does not have")
    return compressed[code]
