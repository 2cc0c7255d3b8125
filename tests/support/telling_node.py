"""`distmcts`, with its node telling a file what it reports before it does: what tests compare an answer with.

    python -m tests.support.telling_node FILE [--twice] node ...

--twice: everything is sent two times over.
"""

import sys
from pathlib import Path

from distmcts.cluster.link import Link
from distmcts.cluster.messages import Report
from distmcts.cluster.sockets import Connection
from distmcts.commands.main import main

file = Path(sys.argv.pop(1))
send, send_frame = Link.send, Connection.send


def tell(link, message):
    if isinstance(message, Report):
        with file.open("a") as lines:
            lines.write(f"{message.sequence} {message.statistics.visits[0]} {int(message.ending is not None)}\n")
    send(link, message)


def send_twice(connection, frame):
    send_frame(connection, frame)
    return send_frame(connection, frame)


Link.send = tell
if sys.argv[1] == "--twice":
    del sys.argv[1]
    Connection.send = send_twice

main()
