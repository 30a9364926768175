"""A server on this machine that answers as GitHub, GitLab or a webhook's receiver would, and keeps what it was sent."""

import contextlib
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Reply:
    """One answer. `close`: none, the connection ends. `pause`: seconds between the pieces of the body."""

    status: int = 201
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict)
    close: bool = False
    pause: float = 0.0


def said(status: int, message: object, **headers: str) -> Reply:
    return Reply(
        status, json.dumps({"message": message}).encode(), {k.replace("_", "-"): v for k, v in headers.items()}
    )


@dataclass
class Sent:
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def document(self) -> Any:
        return json.loads(self.body)


@dataclass
class Receiver:
    """`replies` are given in turn, the last one for ever."""

    url: str
    host: str
    replies: list[Reply] = field(default_factory=lambda: [Reply()])
    sent: list[Sent] = field(default_factory=list)

    def reply(self) -> Reply:
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]


@contextlib.contextmanager
def receiving() -> Iterator[Receiver]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    port = server.server_address[1]
    server.receiver = Receiver(f"http://127.0.0.1:{port}", f"127.0.0.1:{port}")  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield server.receiver  # type: ignore[attr-defined]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        receiver: Receiver = self.server.receiver  # type: ignore[attr-defined]
        body = self.rfile.read(int(self.headers["Content-Length"]))
        receiver.sent.append(Sent(self.path, {k.lower(): v for k, v in self.headers.items()}, body))
        reply = receiver.reply()
        if reply.close:
            self.close_connection = True
            return
        with contextlib.suppress(OSError):
            self._answer(reply)

    def _answer(self, reply: Reply) -> None:
        self.send_response(reply.status)
        for name, value in {"Content-Type": "application/json", **reply.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        step = len(reply.body) if not reply.pause else 1
        for start in range(0, len(reply.body), step or 1):
            self.wfile.write(reply.body[start : start + step])
            self.wfile.flush()
            time.sleep(reply.pause)

    def log_message(self, *_words: Any) -> None:
        """Say nothing."""
