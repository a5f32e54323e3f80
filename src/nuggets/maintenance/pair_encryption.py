"""Encrypts the logs of paired machines in the `age` format, by a passphrase that all of them know.

The key follows from the passphrase and a random salt that lies in the folder; a machine that was
told the passphrase once keeps the key beside its shelf. The public half is nowhere in the folder:
whoever does not know the passphrase can neither read a line nor write one that is taken in. The
names of the logs, their sizes and times stay visible.

(A key that `age` itself encrypts with a passphrase is as hard to open as the machine that made it
is fast at that moment, and slower or busier machines may refuse it. So the work is fixed here.)
"""

import hashlib
import os
from base64 import b64decode, b64encode
from contextlib import suppress
from types import ModuleType

from nuggets.errors import InvalidInput, MissingExtra
from nuggets.filesystem.atomic_files import (
    private_directory,
    read_if_plain,
    replace_file,
    unwritable,
)
from nuggets.filesystem.untrusted_folder import (
    open_folder,
    read_plain,
    register_path,
    replace_plain,
)
from nuggets.maintenance.pairing import PLAIN, REGISTERS, Cipher

KEY_FILE = "nuggets-key.txt"
_MOST_BYTES = 16 * 1024  # of the file with the salt: it has some hundred
_WORK = {"n": 1 << 17, "r": 8, "p": 1, "maxmem": 1 << 28}  # of scrypt, as OWASP advises: 128 MiB
_PROOF = b"nuggets"  # encrypted beside the salt: whoever can read it knows the passphrase
_LETTERS = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"  # of Bech32 (BIP 173), in which keys are written
_GENERATOR = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)  # of its checksum
_PREFIX = "age-secret-key-"


def open_cipher(folder: str, directory: str, passphrase: str | None) -> Cipher:
    """How the lines of a folder are encrypted; not at all if nobody has asked for it.

    `passphrase`: of the folder's key, which is made if there is none.
    """
    path = register_path(directory, REGISTERS, folder, "key")
    key = b"" if passphrase is not None else read_if_plain(path)
    if not key and passphrase is None:
        if os.path.lexists(os.path.join(folder, KEY_FILE)):
            raise InvalidInput(
                f"{folder} is encrypted: nuggets pair {folder} --encrypt asks for its passphrase"
            )
        return PLAIN
    age = _library()
    if passphrase is not None:
        if not directory:
            raise InvalidInput("a shelf in memory keeps no key; open one in a directory")
        key = (_unlock(age, folder, passphrase) or _make_key(age, folder, passphrase)).encode()
        private_directory(os.path.dirname(path))
        replace_file(path, [key], durable=True)
    return _cipher(age, key.decode())


def _library() -> ModuleType:
    try:
        import pyrage
    except ImportError as problem:
        raise MissingExtra(
            "encryption needs a library: pip install 'nuggets-memory[encryption]'"
        ) from problem
    module: ModuleType = pyrage
    return module


def _unlock(age: ModuleType, folder: str, passphrase: str) -> str:
    """The key of the folder; "" if it has none."""
    with suppress(FileNotFoundError), open_folder(folder) as place:
        try:
            salt, _, proof = read_plain(place, KEY_FILE, _MOST_BYTES).partition(b"\n")
            key = _derive_key(passphrase, salt)
            _cipher(age, key).decrypt(proof.strip())
            return key
        except ValueError:
            path = os.path.join(folder, KEY_FILE)
            raise InvalidInput(f"the passphrase does not fit {path}; try again") from None
    return ""


def _make_key(age: ModuleType, folder: str, passphrase: str) -> str:
    if not passphrase:
        raise InvalidInput("a passphrase has at least one character; four random words are good")
    salt = os.urandom(16).hex().encode()
    key = _derive_key(passphrase, salt)
    content = salt + b"\n" + _cipher(age, key).encrypt(_PROOF) + b"\n"
    try:
        with open_folder(folder) as place:
            replace_plain(place, KEY_FILE, content, 0o600, durable=True)
    except OSError as problem:
        raise unwritable(os.path.join(folder, KEY_FILE), problem) from problem
    return key


def _derive_key(passphrase: str, salt: bytes) -> str:
    """A secret key, as `age` writes it."""
    secret = hashlib.scrypt(passphrase.encode(), salt=salt, dklen=32, **_WORK)
    bits = "".join(f"{byte:08b}" for byte in secret) + "0000"  # 260, five for each letter
    values = [int(bits[place : place + 5], 2) for place in range(0, len(bits), 5)]
    prefix = [ord(sign) >> 5 for sign in _PREFIX] + [0] + [ord(sign) & 31 for sign in _PREFIX]
    checksum = 1
    for value in (*prefix, *values, *[0] * 6):
        top = checksum >> 25
        checksum = (checksum & 0x1FFFFFF) << 5 ^ value
        for place, number in enumerate(_GENERATOR):
            checksum ^= number if top >> place & 1 else 0
    values += [(checksum ^ 1) >> 5 * (5 - place) & 31 for place in range(6)]
    return f"{_PREFIX}1{''.join(_LETTERS[value] for value in values)}".upper()


def _cipher(age: ModuleType, key: str) -> Cipher:
    identity = age.x25519.Identity.from_str(key)
    recipient = identity.to_public()

    def encrypt(lines: bytes) -> bytes:
        return b64encode(age.encrypt(lines, [recipient]))

    def decrypt(line: bytes) -> bytes:
        try:
            plain: bytes = age.decrypt(b64decode(line, validate=True), [identity])
            return plain
        except (ValueError, age.DecryptError):
            raise ValueError("it is not encrypted with the key of this folder") from None

    return Cipher(encrypt, decrypt)
