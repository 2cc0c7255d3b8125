"""Sockets of a cluster: addresses, options, keys, and what their monitors say.

ZeroMQ reconnects by itself, and its heartbeats find out that a connection is dead. Whether a *node* is alive is judged by our
own heartbeats alone (coordinator.py).
"""

import ipaddress
import re

import zmq
from zmq.auth.thread import ThreadAuthenticator
from zmq.utils.monitor import recv_monitor_message

from distmcts.cluster.keys import AllowedKeys, Invitation, KeyPair
from distmcts.cluster.messages import MAX_BYTES
from distmcts.errors import InputError

DEFAULT_PORT = 5555
DEFAULT_ADDRESS = f"tcp://127.0.0.1:{DEFAULT_PORT}"
MOST_FAILURES = 10  # handshakes in a row; some may be lost with the link, or with a coordinator that is restarting
ADDRESS = re.compile(r"tcp://(?P<host>\[[0-9A-Fa-f:.%\w]+\]|[^:/\[\]]+):(?P<port>\d{1,5}|\*)")

_OPTIONS = {
    zmq.LINGER: 0,
    zmq.MAXMSGSIZE: MAX_BYTES,
    zmq.HANDSHAKE_IVL: 3000,
}
# A socket with heartbeats aborts its process if its connection ends while its queue is full (libzmq issue 4364). So only the
# side that connects has them, with a queue that is never full; HEARTBEAT_TTL makes the other side notice a dead connection.
_BINDING = {zmq.ROUTER_HANDOVER: 1, zmq.SNDHWM: 100, zmq.RCVHWM: 100}  # a node that reconnects takes its old place
_CONNECTING = {
    zmq.HEARTBEAT_IVL: 500,
    zmq.HEARTBEAT_TIMEOUT: 2000,
    zmq.HEARTBEAT_TTL: 3000,
    zmq.RCVHWM: 0,
    zmq.RECONNECT_IVL: 100,
    zmq.RECONNECT_IVL_MAX: 1000,
    zmq.CONNECT_TIMEOUT: 1000,
    zmq.SNDHWM: 200,
}


def check_address(address: str, binding: bool = False) -> str:
    """The address itself; an InputError if it is not one."""
    found = ADDRESS.fullmatch(address)
    if address.startswith("ipc://") and len(address) > len("ipc://"):
        return address
    if (
        not found
        or (found["port"] == "*" or found["host"] == "*")
        and not binding
        or found["port"].isdigit()
        and int(found["port"]) > 65535
    ):
        raise InputError(f"address {address!r}: expected tcp://HOST:PORT, as in {DEFAULT_ADDRESS}")
    return address


def is_everywhere(address: str) -> bool:
    """Whether it is bound on all addresses of a machine, so that it does not say how others reach it."""
    return any(host in address for host in ("//*:", "//0.0.0.0:", "//[::]:"))


def is_local(address: str) -> bool:
    """Whether nobody outside this machine can reach it."""
    if address.startswith("ipc://"):
        return True
    host = ADDRESS.fullmatch(address)["host"].strip("[]")
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Server:
    """The coordinator's socket, bound. Owns it and the thread that checks keys."""

    def __init__(self, context: zmq.Context, address: str, pair: KeyPair | None, allowed: AllowedKeys | None):
        check_address(address, binding=True)
        self._authenticator: ThreadAuthenticator | None = None
        self.socket = context.socket(zmq.ROUTER)
        try:
            for option, value in (_OPTIONS | _BINDING).items():
                self.socket.setsockopt(option, value)
            self.socket.setsockopt(zmq.IPV6, "[" in address)
            if pair is not None:
                self._authenticator = ThreadAuthenticator(context)
                self._authenticator.start()
                self._authenticator.configure_curve_callback("*", credentials_provider=allowed)
                self.socket.curve_server = True
                self.socket.curve_publickey = pair.public.encode()
                self.socket.curve_secretkey = pair.secret.encode()
            self.socket.bind(address)
        except zmq.ZMQError as error:
            self.close()
            raise InputError(f"cannot bind to {address}: {error.strerror}") from None
        except BaseException:
            self.close()
            raise

    @property
    def address(self) -> str:
        """Where it is bound, with the port that was chosen."""
        return self.socket.getsockopt_string(zmq.LAST_ENDPOINT)

    def close(self) -> None:
        self.socket.close()
        if self._authenticator is not None:
            self._authenticator.stop()


class Connection:
    """A node's or client's socket. Belongs to the thread that made it."""

    def __init__(self, context: zmq.Context, invitation: Invitation, identity: bytes = b""):
        check_address(invitation.address)
        self.address = invitation.address
        self.socket = context.socket(zmq.DEALER)
        try:
            for option, value in (_OPTIONS | _CONNECTING).items():
                self.socket.setsockopt(option, value)
            self.socket.setsockopt(zmq.IPV6, "[" in invitation.address)
            if identity:
                self.socket.setsockopt(zmq.IDENTITY, identity)
            if invitation.coordinator_key:
                self.socket.curve_serverkey = invitation.coordinator_key.encode()
                self.socket.curve_publickey = invitation.public.encode()
                self.socket.curve_secretkey = invitation.secret.encode()
            self._monitor = self.socket.get_monitor_socket(
                zmq.EVENT_HANDSHAKE_FAILED_AUTH
                | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL
                | zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL
                | zmq.EVENT_HANDSHAKE_SUCCEEDED
            )
            self.socket.connect(invitation.address)
        except zmq.ZMQError as error:
            self.close()
            raise InputError(f"cannot connect to {invitation.address}: {error.strerror}") from None
        self._failures = 0

    def send(self, frame: bytes) -> bool:
        """Never blocks; False if the frame was thrown away, because too many are waiting."""
        try:
            self.socket.send(frame, zmq.DONTWAIT)
            return True
        except zmq.Again:
            return False

    def rejection(self) -> str | None:
        """Why the coordinator does not let us in, as far as the monitor tells; None if all seems well."""
        while self._monitor.poll(0):
            event = recv_monitor_message(self._monitor)["event"]
            if event == zmq.EVENT_HANDSHAKE_FAILED_AUTH:
                return f"rejected by {self.address}: it does not know our key; there: `distmcts keys allow FILE`"
            if event == zmq.EVENT_HANDSHAKE_SUCCEEDED:
                self._failures = 0
            else:  # ZeroMQ tries again, but not after the other kind: one side has keys and the other has none
                self._failures += MOST_FAILURES if event == zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL else 1
        if self._failures >= MOST_FAILURES:
            hint = "only one side uses keys (--keys FOLDER makes this one do), or the coordinator's key is another"
            return f"cannot agree with {self.address} on encryption: {hint}"
        return None

    def close(self, linger_s: float = 0.0) -> None:
        """Waits up to `linger_s` for what was sent to get through."""
        self.socket.disable_monitor()
        self._monitor.close(0)
        self.socket.close(int(linger_s * 1000))
