"""Keys of a cluster: who may talk to whom. CURVE on both sides; a secret key is a file that only its owner can read.

A folder of keys (by default ~/.config/distmcts/keys, or $DISTMCTS_KEYS) has

    NAME.key_secret     the key pair of this machine, mode 0600: never leaves it
    NAME.key            its public half: to be given to others
    allowed/OTHER.key   the public keys of others: at the coordinator, the nodes and clients that may come in; at a node or a
                        client, the coordinator

An invitation is one file with all that a node or a client needs to come in: address, the coordinator's public key, and a key pair
made for the occasion. `distmcts launch` hands out such files; they are as secret as a key.
"""

import logging
import os
import re
import stat
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec
import zmq
import zmq.auth
from zmq.utils import z85

from distmcts.errors import InputError, file_errors, unknown
from distmcts.files import whole_file

MOST_REFUSED = 1000  # unknown keys that are logged

log = logging.getLogger("distmcts.coordinator")

PUBLIC, SECRET = ".key", ".key_secret"
ALLOWED = "allowed"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")


class KeyPair(NamedTuple):
    name: str
    public: str
    secret: str

    def __repr__(self) -> str:  # a secret never gets into a log by accident
        return f"KeyPair({self.name!r}, {self.public!r})"


class Invitation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where to go, and the keys to get in; without keys the connection is neither encrypted nor checked."""

    address: str
    coordinator_key: str | None = None
    public: str | None = None
    secret: str | None = None

    def __repr__(self) -> str:
        return f"Invitation({self.address!r})"

    def __rich_repr__(self) -> Iterator[str]:
        yield self.address

    def to_line(self) -> str:
        return msgspec.json.encode(self).decode()


# ---- a folder of keys ----------------------------------------------------------------------------------------------------


def key_folder() -> Path:
    chosen = os.environ.get("DISTMCTS_KEYS")
    return Path(chosen) if chosen else Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "distmcts" / "keys"


def make_pair(name: str) -> KeyPair:
    public, secret = zmq.curve_keypair()
    return KeyPair(name, public.decode(), secret.decode())


def new_key(folder: Path, name: str) -> Path:
    """Make a key pair; returns the file of its public half. An existing one is never written over."""
    _check_name(name)
    secret_file, public_file = folder / f"{name}{SECRET}", folder / f"{name}{PUBLIC}"
    for path in (secret_file, public_file):
        if path.exists():
            raise InputError(f"{path}: already exists; remove it, or choose another name")
    pair = make_pair(name)
    with file_errors(folder):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_secret(secret_file, _certificate(pair.public, pair.secret))
        _write(public_file, _certificate(pair.public), 0o644)
    return public_file


def own_key(folder: Path, name: str | None = None) -> KeyPair:
    """The key pair of this machine; by name, if the folder has several."""
    names = sorted(path.name.removesuffix(SECRET) for path in folder.glob(f"*{SECRET}"))
    if not names:
        raise InputError(f"{folder}: has no secret key; make one with `distmcts keys new`")
    if name is None and len(names) > 1:
        raise InputError(f"{folder}: has several secret keys ({', '.join(names)}): say which with --key")
    if name is not None and name not in names:
        raise unknown("key", name, names)
    path = folder / f"{name or names[0]}{SECRET}"
    check_private(path)
    public, secret = _load(path)
    if secret is None:
        raise InputError(f"{path}: has no secret key in it")
    if not _is_pair(public, secret):
        raise InputError(f"{path}: is damaged: its two halves do not belong together")
    return KeyPair(name or names[0], public, secret)


def allow(folder: Path, public_file: Path) -> str:
    """Let the owner of a public key in; returns its name."""
    name = public_file.name.removesuffix(SECRET).removesuffix(PUBLIC)
    _check_name(name)
    public, _ = _load(public_file)
    place = folder / ALLOWED / f"{name}{PUBLIC}"
    with file_errors(place):
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if place.exists() and _load(place)[0] != public:
            raise InputError(f"{place}: another key has this name already; remove it, or rename the new one")
        _write(place, _certificate(public), 0o644)
    return name


def allowed(folder: Path) -> dict[str, str]:
    """Public keys of others by name."""
    return {path.name.removesuffix(PUBLIC): _load(path)[0] for path in sorted((folder / ALLOWED).glob(f"*{PUBLIC}"))}


def coordinator_key(folder: Path, name: str | None = None) -> str:
    """The public key of the coordinator, as a node or client knows it."""
    known = allowed(folder)
    if not known:
        raise InputError(f"{folder / ALLOWED}: no public key of a coordinator; add it with `distmcts keys allow FILE`")
    if name is None and len(known) > 1:
        raise InputError(f"{folder / ALLOWED}: has several keys ({', '.join(known)}): say which with --coordinator")
    if name is not None and name not in known:
        raise unknown("coordinator", name, known)
    return known[name] if name else next(iter(known.values()))


class AllowedKeys:
    """Answers whether a public key may come in (what pyzmq calls a credentials provider). Looks at the folder again when it
    changes, so that a node can be let in while the coordinator runs."""

    def __init__(self, folder: Path | None, others: dict[str, str] | None = None):
        self._folder = folder
        self._others = others or {}
        self._seen: float | None = None
        self._keys: dict[str, str] = {}
        self._refused: set[bytes] = set()  # each is logged once

    def callback(self, domain: str, key: bytes) -> bool:
        self._look()
        known = key.decode() in self._keys.values()
        if not known and key not in self._refused and len(self._refused) < MOST_REFUSED:
            self._refused.add(key)
            log.warning("an unknown key was turned away: %s", key.decode())
        return known

    def _look(self) -> None:
        try:
            changed = (self._folder / ALLOWED).stat().st_mtime if self._folder else 0.0
        except OSError:
            changed = None
        if changed != self._seen or not self._keys:
            self._seen = changed
            self._keys = {**self._in_folder(), **self._others}

    def _in_folder(self) -> dict[str, str]:
        found = {}
        for path in (self._folder / ALLOWED).glob(f"*{PUBLIC}") if self._folder else ():
            name = path.name.removesuffix(PUBLIC)
            try:
                found[name] = _load(path)[0]
            except InputError as error:  # it keeps nobody else out, and a key that was known stays known
                log.warning("%s", error)
                if name in self._keys:
                    found[name] = self._keys[name]
        return found


# ---- invitations ---------------------------------------------------------------------------------------------------------


def write_invitation(path: Path, invitation: Invitation) -> None:
    with file_errors(path):
        write_secret(path, invitation.to_line() + "\n")


def read_invitation(path: Path) -> Invitation:
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"invitation {str(path)!r}: {getattr(error, 'strerror', None) or 'is not text'}") from None
    invitation = parse_invitation(text, str(path))
    if invitation.secret:
        check_private(path)
    return invitation


def parse_invitation(line: str, source: str) -> Invitation:
    try:
        invitation = msgspec.json.decode(line, type=Invitation)
    except (msgspec.MsgspecError, ValueError):  # the second for what is not text
        raise InputError(f"{source}: is not an invitation to a cluster") from None
    keys = (invitation.coordinator_key, invitation.public, invitation.secret)
    if any(keys) and not (all(key and _is_key(key) for key in keys) and _is_pair(invitation.public, invitation.secret)):
        raise InputError(f"{source}: its keys are damaged")
    return invitation


# ---- files ---------------------------------------------------------------------------------------------------------------


def check_private(path: Path) -> None:
    """An InputError if others could read a secret."""
    mode = path.stat().st_mode
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise InputError(f"{path}: others can read this secret (mode {mode & 0o777:04o}); put it right with: chmod 600 {path}")


def write_secret(path: Path, text: str) -> None:
    """Whole or not at all, and never readable by others, not even for a moment."""
    _write(path, text, 0o600)


def _write(path: Path, text: str, mode: int) -> None:
    with whole_file(path, mode) as file:
        file.write(text.encode())


def _certificate(public: str, secret: str | None = None) -> str:
    """The format of ZeroMQ's own tools."""
    lines = ["metadata", "curve", f'    public-key = "{public}"', *([f'    secret-key = "{secret}"'] if secret else [])]
    return "\n".join(lines) + "\n"


def _load(path: Path) -> tuple[str, str | None]:
    try:
        path.open("rb").close()  # pyzmq does not say why it cannot
        public, secret = zmq.auth.load_certificate(path)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "is not a key file"
        raise InputError(f"{path}: {reason}") from None
    keys = [key.decode("ascii", "replace") for key in (public, secret) if key is not None]
    if not all(map(_is_key, keys)):
        raise InputError(f"{path}: is not a key file, or is damaged")
    return keys[0], keys[1] if len(keys) > 1 else None


def _is_key(text: str) -> bool:
    """Whether it is 32 bytes in Z85."""
    try:
        return len(z85.decode(text.encode())) == 32
    except (ValueError, KeyError, struct.error):
        return False


def _is_pair(public: str, secret: str) -> bool:
    return zmq.curve_public(secret.encode()).decode() == public


def _check_name(name: str) -> None:
    if not NAME.fullmatch(name):
        raise InputError(f"key name {name!r}: letters, digits, dot, dash and underscore only, up to 100")


def describe(folder: Path) -> Iterator[tuple[str, str, str]]:
    """(whose, name, public key) of everything in a folder, for `distmcts keys list`."""
    for path in sorted(folder.glob(f"*{SECRET}")):
        name = path.name.removesuffix(SECRET)
        yield "own", name, own_key(folder, name).public
    for name, public in allowed(folder).items():
        yield "allowed", name, public
