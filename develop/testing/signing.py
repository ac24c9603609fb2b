"""Keys of tests, and a command that signs with them: by the code of securesystemslib, so that no OpenSSL is needed."""

import base64
import hashlib
import os
import shlex
import sys
from pathlib import Path

from securesystemslib._vendor.ed25519.ed25519 import publickey_unsafe, signature_unsafe


def make_key(directory: Path, name: str = "key") -> tuple[Path, str]:
    """Write a public key; return its path, and the command that signs with it."""
    seed = hashlib.sha256(name.encode()).digest()
    der = bytes.fromhex("302a300506032b6570032100") + publickey_unsafe(seed)
    path = directory / f"{name}.pub"
    body = base64.b64encode(der).decode()
    path.write_text(f"-----BEGIN PUBLIC KEY-----\n{body}\n-----END PUBLIC KEY-----\n")
    paths = f"PYTHONPATH={os.pathsep.join(sys.path)}"
    return path, shlex.join(["env", paths, sys.executable, __file__, name])


if __name__ == "__main__":
    seed = hashlib.sha256(sys.argv[1].encode()).digest()
    print(base64.b64encode(signature_unsafe(sys.stdin.buffer.read(), seed, publickey_unsafe(seed))).decode())
