"""Keys of tests, and a command that signs with them: by the code of securesystemslib, so that no OpenSSL is needed."""

import base64
import hashlib
import os
import shlex
import sys
from pathlib import Path
from typing import Any

from securesystemslib._vendor.ed25519.ed25519 import publickey_unsafe, signature_unsafe
from securesystemslib.signer import Signature, Signer, SSlibKey

from wheels.common.keys import load_public_key


def _seed(name: str) -> bytes:
    return hashlib.sha256(name.encode()).digest()


def make_key(directory: Path, name: str = "key") -> tuple[Path, str]:
    """Write a public key; return its path, and the command that signs with it."""
    seed = _seed(name)
    der = bytes.fromhex("302a300506032b6570032100") + publickey_unsafe(seed)
    path = directory / f"{name}.pub"
    body = base64.b64encode(der).decode()
    path.write_text(f"-----BEGIN PUBLIC KEY-----\n{body}\n-----END PUBLIC KEY-----\n")
    paths = f"PYTHONPATH={os.pathsep.join(sys.path)}"
    return path, shlex.join(["env", paths, sys.executable, __file__, name])


class OwnSigner(Signer):
    """Signs within this process, with the key of a name."""

    def __init__(self, directory: Path, name: str = "key") -> None:
        """Write the public key into a directory."""
        self._seed = _seed(name)
        self._public_key = load_public_key(make_key(directory, name)[0])

    @property
    def public_key(self) -> SSlibKey:
        """The key."""
        return self._public_key

    @classmethod
    def from_priv_key_uri(cls, priv_key_uri: str, public_key: Any, secrets_handler: Any = None) -> Signer:
        """Raise ValueError."""
        raise ValueError(priv_key_uri)

    def sign(self, payload: bytes) -> Signature:
        """Return a signature."""
        made: bytes = signature_unsafe(payload, self._seed, publickey_unsafe(self._seed))
        return Signature(self.public_key.keyid, made.hex())


if __name__ == "__main__":
    seed = _seed(sys.argv[1])
    print(base64.b64encode(signature_unsafe(sys.stdin.buffer.read(), seed, publickey_unsafe(seed))).decode())
