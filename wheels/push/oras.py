"""Pushes by oras, the program of the ORAS project: blobs, the manifest, and what refers to it, all with equal digests.

skopeo may send another blob that inflates to the same, and leaves what refers to an image behind. crane takes a layout
of one manifest alone. oras asks for each blob first, takes credentials from Docker's file and its helpers, and tags
referrers where a registry does not list them.
"""

import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Final

from lib.common.program import ToolError
from wheels.push.images import LocalImage

#: How often a push is tried, and the seconds before the second time; the next waits are twice as long each.
TRIES, PATIENCE = 4, 2.0
#: What oras says if the registry has no TLS, in lower case as what follows.
_NO_TLS: Final = "server gave http response to https client"
#: What oras says if another try cannot help.
_HOPELESS: Final = (
    _NO_TLS,
    "status code 401",
    "status code 403",
    "denied",
    "credential",
    "certificate",
    "unknown flag",
)


@dataclass(frozen=True)
class Oras:
    """The program, and how it reaches the registry."""

    program: str
    #: Without TLS.
    plain_http: bool = False

    def _run(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        command = [self.program, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def _tried(self, *arguments: str) -> None:
        """Run until it succeeds; what was sent by then stays."""
        for number in range(TRIES):
            result = self._run(*arguments)
            if not result.returncode:
                return
            error = result.stderr.strip()
            if any(word in error.lower() for word in _HOPELESS) or number == TRIES - 1:
                break
            print(f"oras: {error}; trying again", file=sys.stderr, flush=True)
            time.sleep(PATIENCE * 2**number)
        if _NO_TLS in error.lower():
            raise ToolError(f"oras {' '.join(arguments)}: {error}. Call this with --plain-http")
        raise ToolError(
            f"oras {' '.join(arguments)}: {error}. What was sent stays there: call this again. If the registry wants "
            "credentials, log in by `oras login` or `docker login`"
        )

    def _resolve(self, reference: str) -> str:
        """Return the digest of what has a tag; empty if nothing has."""
        plain = ["--plain-http"] if self.plain_http else []
        return self._run("resolve", *plain, reference).stdout.strip()

    def push(self, image: LocalImage, reference: str) -> None:
        """Push an image with its bills of materials; raises ToolError if that fails, or if its digest would change."""
        plain = ["--to-plain-http"] if self.plain_http else []
        # A tag that is right already is not set again.
        is_tagged = self._resolve(reference) == image.digest
        place = f"{reference.rpartition(':')[0]}@{image.digest}" if is_tagged else reference
        self._tried(
            "cp", "--recursive", "--no-tty", *plain, "--from-oci-layout", f"{image.directory}:{image.tag}", place
        )
        found = self._resolve(reference)
        if found != image.digest:
            raise ToolError(
                f"{reference}: has the digest {found}; expected {image.digest}. Somebody pushed another image at the "
                "same time: call this again"
            )


def find_oras() -> str:
    """Return the path of oras; raises ToolError if it is not on PATH."""
    found = shutil.which("oras")
    if not found:
        raise ToolError("oras: not on PATH; expected version 1.2 or newer, which pushes images. Install it (oras.land)")
    return found
