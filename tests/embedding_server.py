"""A real embedding server on loopback: small vectors that depend on the text, and it can die."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise

DIM = 24


def vector(text: str) -> list[float]:
    """Counts of character pairs in a few bins, so that texts alike get vectors alike."""
    bins = [0.0] * DIM
    bins[0] = 1.0
    for first, second in pairwise(text):
        bins[(ord(first) * 31 + ord(second)) % DIM] += 1.0
    return bins


class EmbeddingServer:
    """Answers ``POST /embed`` while `alive(texts)` says so; keeps the texts it answered."""

    def __init__(self) -> None:
        self.answered: list[str] = []
        self.alive: Callable[[list[str]], bool] = lambda texts: True
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["texts"]
                if not owner.alive(texts):
                    self.close_connection = True  # no answer at all, as from a process that died
                    return
                owner.answered += texts
                body = json.dumps({"embeddings": [vector(text) for text in texts]}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.http.server_port}"

    def close(self) -> None:
        """Stop listening."""
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()
