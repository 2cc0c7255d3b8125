"""Keys: a secret is never readable by others, not even for a moment, is never written over, and never gets into a log."""

import json
import logging
import os
import stat
import subprocess

import pytest
import zmq
from rich.pretty import pretty_repr

from distmcts import files
from distmcts.cluster.keys import (
    ALLOWED,
    AllowedKeys,
    Invitation,
    allow,
    allowed,
    coordinator_key,
    describe,
    key_folder,
    make_pair,
    new_key,
    own_key,
    parse_invitation,
    read_invitation,
    write_invitation,
)
from distmcts.errors import InputError
from tests.support.command import distmcts


def mode(path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "keys"


@pytest.fixture
def generous():
    """A user who lets everybody read everything."""
    before = os.umask(0)
    yield
    os.umask(before)


def one_line(error: pytest.ExceptionInfo) -> str:
    text = str(error.value)
    assert text and "\n" not in text
    return text


# ---- files ---------------------------------------------------------------------------------------------------------------


def test_a_secret_is_private_from_its_first_moment(folder, generous, monkeypatch):
    seen = []

    def fsync(number: int) -> None:
        seen.extend((path.name, mode(path)) for path in folder.iterdir())

    monkeypatch.setattr(files.os, "fsync", fsync)
    opened = []
    really_open = os.open

    def open_it(path, flags: int, how: int) -> int:
        opened.append((str(path), how))
        return really_open(path, flags, how)

    monkeypatch.setattr(files.os, "open", open_it)
    public = new_key(folder, "alpha")
    assert public == folder / "alpha.key"
    assert {how for path, how in opened if "key_secret" in path} == {0o600}
    assert {how for name, how in seen if "key_secret" in name} == {0o600}
    assert mode(folder / "alpha.key_secret") == 0o600
    assert mode(folder) == 0o700
    assert sorted(path.name for path in folder.iterdir()) == ["alpha.key", "alpha.key_secret"]


def test_the_pair_belongs_together_and_the_public_half_has_no_secret(folder):
    new_key(folder, "alpha")
    pair = own_key(folder)
    assert zmq.curve_public(pair.secret.encode()).decode() == pair.public
    assert pair.secret not in (folder / "alpha.key").read_text()
    assert pair.public in (folder / "alpha.key").read_text()


@pytest.mark.parametrize("there", ["alpha.key_secret", "alpha.key"])
def test_nothing_is_written_over(folder, there):
    folder.mkdir()
    (folder / there).write_text("precious")
    with pytest.raises(InputError, match="already exists"):
        new_key(folder, "alpha")
    assert (folder / there).read_text() == "precious"
    assert [path.name for path in folder.iterdir()] == [there]


@pytest.mark.parametrize("bits", [0o604, 0o640, 0o644, 0o620, 0o602, 0o666])
def test_a_secret_that_others_can_read_is_refused(folder, bits):
    new_key(folder, "alpha")
    (folder / "alpha.key_secret").chmod(bits)
    with pytest.raises(InputError, match="others can read this secret") as error:
        own_key(folder)
    assert f"{bits:04o}" in one_line(error) and "chmod 600" in str(error.value)
    with pytest.raises(InputError):
        list(describe(folder))


@pytest.mark.parametrize("name", ["", "..", "a/b", "../a", "-x", ".hidden", "a b", "ä", "a" * 101, "a\n"])
def test_names_that_are_no_file_names(folder, name):
    with pytest.raises(InputError, match="key name") as error:
        new_key(folder, name)
    one_line(error)
    assert not folder.exists()


def test_which_key(folder):
    with pytest.raises(InputError, match="has no secret key; make one with `distmcts keys new`"):
        own_key(folder)
    new_key(folder, "alpha")
    assert own_key(folder) == own_key(folder, "alpha")
    new_key(folder, "beta")
    with pytest.raises(InputError, match="several secret keys .alpha, beta."):
        own_key(folder)
    with pytest.raises(InputError, match="did you mean 'beta'"):
        own_key(folder, "betta")
    assert own_key(folder, "beta").name == "beta"


DAMAGES = {
    "empty": lambda text: "",
    "binary": lambda text: text.replace("key", "\udcff\udcfe"),
    "cut": lambda text: text[: len(text) // 2],
    "short key": lambda text: text[:-8] + '"\n',
    "no public key": lambda text: text.replace("public-key", "pubic-key"),
    "not Z85": lambda text: text[:-6] + "~" + text[-5:],
    "beyond Z85": lambda text: text[:-7] + '#####"\n',
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_files_are_refused(folder, damage):
    public = new_key(folder, "alpha")
    for path in (public, folder / "alpha.key_secret"):
        path.write_bytes(DAMAGES[damage](path.read_text()).encode(errors="surrogateescape"))
    for use in (lambda: own_key(folder), lambda: allow(folder, public), lambda: list(describe(folder))):
        with pytest.raises(InputError) as error:
            use()
        assert "alpha.key" in one_line(error)
    assert allowed(folder) == {}


def test_halves_of_different_pairs_are_refused(folder):
    new_key(folder, "alpha")
    path = folder / "alpha.key_secret"
    pair, other = own_key(folder), make_pair("other")
    path.write_text(path.read_text().replace(pair.secret, other.secret))
    with pytest.raises(InputError, match="do not belong together"):
        own_key(folder)


# ---- others --------------------------------------------------------------------------------------------------------------


def test_allowing_others(folder, tmp_path):
    theirs = new_key(tmp_path / "theirs", "beta")
    public = own_key(tmp_path / "theirs").public
    assert allow(folder, theirs) == "beta"
    assert allow(folder, theirs) == "beta"  # may be repeated
    assert allowed(folder) == {"beta": public}
    assert coordinator_key(folder) == coordinator_key(folder, "beta") == public
    another = new_key(tmp_path / "another", "beta")
    with pytest.raises(InputError, match="another key has this name already"):
        allow(folder, another)
    assert allowed(folder) == {"beta": public}


def test_a_secret_that_was_given_by_mistake_is_not_kept(folder, tmp_path):
    new_key(tmp_path, "beta")
    allow(folder, tmp_path / "beta.key_secret")
    assert own_key(tmp_path).secret not in (folder / ALLOWED / "beta.key").read_text()


def test_whose_coordinator(folder, tmp_path):
    with pytest.raises(InputError, match="no public key of a coordinator"):
        coordinator_key(folder)
    for name in ("head", "spare"):
        allow(folder, new_key(tmp_path, name))
    with pytest.raises(InputError, match="several keys .head, spare."):
        coordinator_key(folder)
    with pytest.raises(InputError, match="did you mean 'head'"):
        coordinator_key(folder, "heat")


def is_let_in(keys: AllowedKeys, public: str) -> bool:
    return keys.callback("distmcts", public.encode())


def test_a_key_is_seen_while_the_coordinator_runs(folder, tmp_path):
    guest, beta, gamma = make_pair("guest"), new_key(tmp_path, "beta"), new_key(tmp_path, "gamma")
    keys = AllowedKeys(folder, {"guest": guest.public})
    publics = {name: own_key(tmp_path, name).public for name in ("beta", "gamma")}
    assert is_let_in(keys, guest.public) and not is_let_in(keys, publics["beta"])
    allow(folder, beta)
    assert is_let_in(keys, publics["beta"]) and not is_let_in(keys, publics["gamma"])
    allow(folder, gamma)
    assert is_let_in(keys, publics["gamma"]) and is_let_in(keys, publics["beta"])
    (folder / ALLOWED / "beta.key").unlink()
    assert not is_let_in(keys, publics["beta"]) and is_let_in(keys, publics["gamma"]) and is_let_in(keys, guest.public)
    assert not is_let_in(keys, "") and not is_let_in(keys, make_pair("x").public)


def test_a_damaged_key_keeps_nobody_else_out(folder, tmp_path, caplog):
    allow(folder, new_key(tmp_path, "beta"))
    (folder / ALLOWED / "alpha.key").write_text("nonsense")
    keys = AllowedKeys(folder)
    assert is_let_in(keys, own_key(tmp_path, "beta").public)
    assert "alpha.key" in caplog.text
    allow(folder, new_key(tmp_path, "gamma"))
    assert is_let_in(keys, own_key(tmp_path, "gamma").public)


def test_nobody_is_allowed_by_nothing():
    assert not is_let_in(AllowedKeys(None), make_pair("x").public)
    assert not is_let_in(AllowedKeys(None), "")


# ---- invitations ---------------------------------------------------------------------------------------------------------


def an_invitation() -> Invitation:
    guest = make_pair("guest")
    return Invitation("tcp://10.0.0.1:5555", make_pair("head").public, guest.public, guest.secret)


def test_an_invitation_arrives_as_it_was(tmp_path, generous):
    for invitation in (an_invitation(), Invitation("tcp://127.0.0.1:5555")):
        path = tmp_path / "invitation.json"
        write_invitation(path, invitation)
        assert mode(path) == 0o600
        assert read_invitation(path) == invitation
        assert parse_invitation(invitation.to_line(), "here") == invitation


def test_an_invitation_that_others_can_read_is_refused(tmp_path):
    path = tmp_path / "invitation.json"
    write_invitation(path, an_invitation())
    path.chmod(0o644)
    with pytest.raises(InputError, match="others can read this secret"):
        read_invitation(path)
    write_invitation(path, Invitation("tcp://127.0.0.1:5555"))
    path.chmod(0o644)  # there is no secret in it
    assert read_invitation(path).address == "tcp://127.0.0.1:5555"


@pytest.mark.parametrize(
    "change",
    [
        lambda fields: {**fields, "secret": None},
        lambda fields: {**fields, "public": fields["public"][:-1]},
        lambda fields: {**fields, "coordinator_key": "~" * 40},
        lambda fields: {**fields, "secret": make_pair("other").secret},
        lambda fields: {**fields, "more": 1},
        lambda fields: {"public": fields["public"]},
        lambda fields: [],
    ],
)
def test_damaged_invitations_are_refused(tmp_path, change):
    invitation = an_invitation()
    text = json.dumps(change(json.loads(invitation.to_line())))
    with pytest.raises(InputError, match="standard input: ") as error:
        parse_invitation(text, "standard input")
    assert invitation.secret not in one_line(error)


def test_what_is_no_invitation(tmp_path):
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    for path in (tmp_path / "nothing", tmp_path, tmp_path / "binary"):
        with pytest.raises(InputError, match="invitation") as error:
            read_invitation(path)
        one_line(error)


def test_no_secret_in_what_is_shown(caplog):
    caplog.set_level(logging.INFO)
    invitation, pair = an_invitation(), make_pair("alpha")
    for thing, secret in ((invitation, invitation.secret), (pair, pair.secret)):
        logging.getLogger("distmcts").info("%s %r", thing, thing)
        shown = [repr(thing), str(thing), f"{thing}", f"{[thing]}", caplog.text, pretty_repr(thing)]
        assert not [text for text in shown if secret in text]


# ---- the command ---------------------------------------------------------------------------------------------------------


def keys_command(folder, *arguments: str) -> subprocess.CompletedProcess:
    return distmcts("keys", *arguments, DISTMCTS_KEYS=str(folder))


def test_the_command_from_nothing_to_a_list(folder, tmp_path):
    assert "make one with `distmcts keys new`" in keys_command(folder, "list").stdout
    made = keys_command(folder, "new", "alpha")
    assert made.returncode == 0 and str(folder / "alpha.key") in made.stdout
    assert keys_command(tmp_path / "theirs", "new", "beta").returncode == 0
    assert keys_command(folder, "allow", str(tmp_path / "theirs" / "beta.key")).stdout == "allowed: beta\n"
    rows = json.loads(keys_command(folder, "list", "--json").stdout)
    assert [(row["whose"], row["name"]) for row in rows] == [("own", "alpha"), ("allowed", "beta")]
    secret = own_key(folder).secret
    listed = keys_command(folder, "list")
    assert own_key(folder).public in listed.stdout
    assert secret not in listed.stdout + made.stdout + json.dumps(rows)


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["new", "a/b"], "key name 'a/b'"),
        (["new", "alpha"], "already exists"),
        (["allow", "nothing.key"], "nothing.key: No such file"),
        (["allow", "."], "key name"),
        (["allow", "/dev/null/beta.key"], "beta.key: Not a directory"),
        (["new", "beta", "--keys", "{folder}/alpha.key"], "alpha.key"),
        (["newest"], "newest"),
    ],
)
def test_bad_input_is_one_line(folder, arguments, said):
    new_key(folder, "alpha")
    done = keys_command(folder, *(each.format(folder=folder) for each in arguments))
    assert done.returncode == 2
    assert said in done.stderr and done.stderr.count("\n") == 1 and done.stderr.startswith("distmcts: ")


def test_where_keys_are(monkeypatch, tmp_path):
    monkeypatch.delenv("DISTMCTS_KEYS", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert key_folder() == tmp_path / "distmcts" / "keys"
    monkeypatch.setenv("DISTMCTS_KEYS", str(tmp_path / "mine"))
    assert key_folder() == tmp_path / "mine"
