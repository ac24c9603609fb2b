"""Keys that sign: a PEM file, or a command, so that the key can stay in a KMS.

    signer(Path("key.pem"))                      signs with OpenSSL
    signer(Path("key.pub"), "kms-sign release")  signs with a command
    load_public_key(Path("key.pub"))             checks signatures

securesystemslib checks ed25519 without compiled code. ECDSA and RSA, which some KMS have alone, need `cryptography`. A
key is named by the SHA-256 of its public part in DER.
"""

import base64
import binascii
import hashlib
import re
import shlex
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from securesystemslib.exceptions import UnverifiedSignatureError
from securesystemslib.signer import Signature, Signer, SSlibKey

from lib.common.command import CannotRunError

#: What a public key of ed25519 begins with in DER (RFC 8410); 32 bytes follow.
_ED25519: Final = bytes.fromhex("302a300506032b6570032100")
_MAKE: Final = "openssl genpkey -algorithm ed25519 -out key.pem; openssl pkey -in key.pem -pubout -out key.pub"


def load_public_key(path: Path, pem: bytes | None = None) -> SSlibKey:
    """Read a public key; or `pem`, what it is in. Raises CannotRunError for what is none, or needs `cryptography`."""
    text = pem or (path.read_bytes() if path.is_file() else b"")
    found = re.fullmatch(rb"\s*-----BEGIN PUBLIC KEY-----([\sA-Za-z0-9+/=]+)-----END PUBLIC KEY-----\s*", text)
    try:
        der = base64.b64decode(found[1]) if found else b""
        name = hashlib.sha256(der).hexdigest()
        if der.startswith(_ED25519):
            return SSlibKey(name, "ed25519", "ed25519", {"public": der.removeprefix(_ED25519).hex()})
        if der:
            from cryptography.hazmat.primitives.serialization import load_pem_public_key

            return SSlibKey.from_crypto(load_pem_public_key(text), name)
    except ImportError:
        raise CannotRunError(f"{path}: is not a key of ed25519. Others need: pip install cryptography") from None
    except ValueError:
        pass
    raise CannotRunError(f"{path}: expected a public key in PEM. Make one: {_MAKE}")


def _run(command: Sequence[str | Path], given: bytes = b"") -> bytes:
    try:
        return subprocess.run(command, input=given, capture_output=True, check=True).stdout
    except OSError as error:
        raise CannotRunError(f"{command[0]}: {error.strerror}. Install it, or name another --sign-command") from None
    except subprocess.CalledProcessError as error:
        why = error.stderr.decode(errors="replace").strip()[-400:]
        raise CannotRunError(f"{command[0]}: ended with {error.returncode}: {why}. Nothing was signed") from None


class _CommandSigner(Signer):
    """Signs with a command, or with OpenSSL if there is none."""

    def __init__(self, key: Path, command: Sequence[str]) -> None:
        self._key, self._command = key, command
        pem = None if command else _run(["openssl", "pkey", "-in", key, "-pubout"])
        self._public_key = load_public_key(key, pem)

    @property
    def public_key(self) -> SSlibKey:
        """The key that checks the signatures."""
        return self._public_key

    @classmethod
    def from_priv_key_uri(cls, priv_key_uri: str, public_key: Any, secrets_handler: Any = None) -> Signer:
        """Raise ValueError: a command is no URI."""
        raise ValueError(priv_key_uri)

    def sign(self, payload: bytes) -> Signature:
        """Return a signature. Raises CannotRunError if the command fails, or signs with another key."""
        with tempfile.NamedTemporaryFile() as file:  # OpenSSL 3.0 has to know how many bytes there are.
            file.write(payload)
            file.flush()
            own = ["openssl", "pkeyutl", "-sign", "-rawin", "-inkey", str(self._key), "-in", file.name]
            said = _run(self._command or own, payload)
        with suppress(binascii.Error):  # Else these are the bytes as they are.
            said = base64.b64decode(b"".join(said.split()), validate=True)
        signature = Signature(self.public_key.keyid, said.hex())
        try:
            self.public_key.verify_signature(signature, payload)
        except UnverifiedSignatureError:
            who = shlex.join(self._command) or "openssl"
            raise CannotRunError(f"{who}: signs with another key than {self._key}. Name the key of it") from None
        return signature


def signer(key: Path, command: str = "") -> Signer:
    """Return what signs: with a private key, or with a command, whose public key is given.

    The command gets the bytes to sign on its standard input, and prints the signature, as it is or in base64: of
    ed25519 the 64 bytes, of ECDSA the DER form. Raises CannotRunError if there is no such key or command.
    """
    return _CommandSigner(key, shlex.split(command))
