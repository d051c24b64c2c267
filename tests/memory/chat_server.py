"""A chat endpoint on localhost: a real HTTP server that answers as a test tells it to, well or not."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Handler = Callable[["Request"], None]


class Request(BaseHTTPRequestHandler):
    """One request, and the ways to answer it."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server = self.server
        with server.lock:
            server.asked.append({"path": self.path, "key": self.headers["Authorization"], **body})
            handler = server.handlers[min(len(server.asked), len(server.handlers)) - 1]
        try:
            handler(self)
        except OSError:
            self.close_connection = True  # whoever asked went away

    def send(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, handlers: Sequence[Handler]) -> None:
        super().__init__(("127.0.0.1", 0), Request)
        self.handlers = handlers
        self.asked: list[dict[str, Any]] = []
        self.lock = threading.Lock()
        self.over = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


@contextmanager
def serving(*handlers: Handler) -> Iterator[Server]:
    """A server that answers the first request by the first handler, and so on; the last one goes on."""
    with Server(handlers) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.over.set()
            server.shutdown()
            thread.join()


def completion(content: Any, **more: Any) -> bytes:
    """A chat completion that says this: text as it is, anything else as JSON."""
    text = content if isinstance(content, str) else json.dumps(content)
    choice = {"index": 0, "message": {"role": "assistant", "content": text, "refusal": None}, "finish_reason": "stop"}
    return json.dumps({"id": "c", "object": "chat.completion", "choices": [{**choice, **more}]}).encode()


def says(content: Any, **more: Any) -> Handler:
    return lambda request: request.send(200, completion(content, **more))


def sends(body: bytes, status: int = 200, **headers: str) -> Handler:
    return lambda request: request.send(status, body, **headers)


def fails(status: int, message: str = "no", **headers: str) -> Handler:
    return sends(json.dumps({"error": {"message": message, "type": "t", "code": "c"}}).encode(), status, **headers)


def is_silent(request: Request) -> None:
    """Says nothing until the test is over."""
    request.server.over.wait(30)


def drips(request: Request) -> None:
    """Sends a byte at a time, so that no read waits long, and never comes to an end."""
    request.send_response(200)
    request.send_header("Content-Type", "application/json")
    request.send_header("Content-Length", "1000000")
    request.end_headers()
    while not request.server.over.is_set():
        request.wfile.write(b" ")
        request.wfile.flush()
        request.server.over.wait(0.02)


def hangs_up(request: Request) -> None:
    """Ends the connection in the middle of its answer."""
    request.send_response(200)
    request.send_header("Content-Type", "application/json")
    request.send_header("Content-Length", "1000")
    request.end_headers()
    request.wfile.write(b'{"choices": [')
    request.close_connection = True


def says_nothing_at_all(request: Request) -> None:
    """Ends the connection without a word."""
    request.close_connection = True
