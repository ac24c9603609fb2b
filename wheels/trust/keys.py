"""Keys that sign: a PEM file, or a command, so that the key can stay in a KMS.

    signer(Path("key.pem"))                      signs with OpenSSL
    signer(Path("key.pub"), "kms-sign release")  signs with a command
    load_public_key(Path("key.pub"))             checks signatures

Keys are made with `openssl genpkey -algorithm ed25519`. What securesystemslib does without compiled code is ed25519;
ECDSA and RSA, which some KMS have alone, need `cryptography`. A key is named by the SHA-256 of its public part in DER.
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

#: What a public key of ed25519 begins with as a SubjectPublicKeyInfo (RFC 8410); 32 bytes follow.
_ED25519: Final = bytes.fromhex("302a300506032b6570032100")
_MAKE: Final = (
    "Make a pair: openssl genpkey -algorithm ed25519 -out key.pem; openssl pkey -in key.pem -pubout -out key.pub"
)


def _public_key(pem: bytes, where: Path) -> SSlibKey:
    found = re.fullmatch(rb"\s*-----BEGIN PUBLIC KEY-----([\sA-Za-z0-9+/=]+)-----END PUBLIC KEY-----\s*", pem)
    try:
        der = base64.b64decode(found[1]) if found else b""
    except binascii.Error:
        der = b""
    if not der:
        raise CannotRunError(f"{where}: is not a public key in PEM. {_MAKE}")
    identity = hashlib.sha256(der).hexdigest()
    if der.startswith(_ED25519) and len(der) == len(_ED25519) + 32:
        return SSlibKey(identity, "ed25519", "ed25519", {"public": der.removeprefix(_ED25519).hex()})
    try:
        from cryptography.hazmat.primitives.serialization import load_pem_public_key
    except ImportError:
        raise CannotRunError(f"{where}: is not a key of ed25519. Others need: pip install cryptography") from None
    try:
        return SSlibKey.from_crypto(load_pem_public_key(pem), identity)
    except ValueError as error:
        raise CannotRunError(f"{where}: cannot be used: {error}; expected ed25519, ECDSA or RSA. {_MAKE}") from None


def load_public_key(path: Path) -> SSlibKey:
    """Read a public key. Raises CannotRunError for what is none, or if `cryptography` is missing that it needs."""
    try:
        return _public_key(path.read_bytes(), path)
    except OSError as error:
        raise CannotRunError(f"{path}: cannot be read: {error.strerror}. {_MAKE}") from None


def _run(command: Sequence[str | Path], given: bytes = b"") -> bytes:
    said = f"{command[0]}: cannot sign"
    try:
        done = subprocess.run(command, input=given, capture_output=True, check=False)
    except OSError as error:
        raise CannotRunError(f"{said}: {error.strerror}. Install it, or name another --sign-command") from None
    if done.returncode:
        why = done.stderr.decode(errors="replace").strip()[-400:]
        raise CannotRunError(f"{said}: it ended with {done.returncode}: {why}. Nothing was signed")
    return done.stdout


class CommandSigner(Signer):
    """Signs with a command, or with OpenSSL if there is none. Wrong signatures are refused at once."""

    def __init__(self, key: Path, command: Sequence[str]) -> None:
        """Take a file with the public key, or with the private one if there is no command."""
        self._key, self._command = key, command
        pem = key.read_bytes() if command else _run(["openssl", "pkey", "-in", key, "-pubout"])
        self._public_key = _public_key(pem, key)

    @property
    def public_key(self) -> SSlibKey:
        """The key that checks the signatures."""
        return self._public_key

    @classmethod
    def from_priv_key_uri(cls, priv_key_uri: str, public_key: Any, secrets_handler: Any = None) -> Signer:
        """Raise ValueError: a command is no URI."""
        raise ValueError(priv_key_uri)

    def sign(self, payload: bytes) -> Signature:
        """Return a signature. Raises CannotRunError if the command fails, or the key does not accept what it says."""
        if self._command:
            said = _run(self._command, payload)
        else:
            with tempfile.NamedTemporaryFile() as file:  # OpenSSL 3.0 has to know how many bytes there are.
                file.write(payload)
                file.flush()
                said = _run(["openssl", "pkeyutl", "-sign", "-rawin", "-inkey", self._key, "-in", file.name])
        with suppress(binascii.Error):  # Else these are the bytes as they are.
            said = base64.b64decode(b"".join(said.split()), validate=True)
        signature = Signature(self._public_key.keyid, said.hex())
        try:
            self._public_key.verify_signature(signature, payload)
        except UnverifiedSignatureError:
            command = shlex.join(self._command) or "openssl"
            raise CannotRunError(f"{command}: signs with another key than {self._key}. Name the key of it") from None
        return signature


def signer(key: Path, command: str = "") -> Signer:
    """Return what signs: with the private key in a file, or with a command, of whose key the file has the public one.

    The command gets the bytes to sign on its standard input, and prints the signature, as it is or in base64: of
    ed25519 the 64 bytes, of ECDSA the DER form. Raises CannotRunError if there is no such key or command.
    """
    if not key.is_file():
        raise CannotRunError(f"{key}: no such file; expected a key in PEM. {_MAKE}")
    return CommandSigner(key, shlex.split(command))
