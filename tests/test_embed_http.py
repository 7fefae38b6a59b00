"""The HTTP provider against a real server on loopback that misbehaves in every way."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from cpersona_jit.embed.guard import guarded_embed
from cpersona_jit.embed.http import HttpProvider
from cpersona_jit.embed.registry import load_provider
from cpersona_jit.errors import EmbeddingError, UsageError


def vector(text: str) -> list[float]:
    """Three numbers that depend on the text."""
    return [len(text), sum(map(ord, text)) % 97 + 0.5, -1]


class Server:
    """A server whose `answer(handler, texts)` may be replaced; it keeps what it was sent."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.calls: list[list[str]] = []
        self.answer = self.embed
        self.release = threading.Event()
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                owner.paths.append(self.path)
                owner.calls.append(body["texts"])
                try:
                    owner.answer(self, body["texts"])
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True

            def log_message(self, *args):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.http.server_port}"

    def embed(self, handler, texts):
        self.send(handler, json.dumps({"embeddings": [vector(text) for text in texts]}).encode())

    @staticmethod
    def send(handler, body: bytes, status: int = 200, length: int | None = None, **headers):
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(body) if length is None else length))
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)

    def close(self):
        self.release.set()
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()


@pytest.fixture
def server():
    server = Server()
    yield server
    server.close()


def answering(server, body, **options):
    """Answer the probe for the dimension properly and everything after it with `body`."""

    def answer(handler, texts):
        if texts == ["dimension"]:
            server.embed(handler, texts)
        else:
            server.send(handler, body if isinstance(body, bytes) else body.encode(), **options)

    server.answer = answer


def test_vectors_come_back_in_order(server):
    texts = ["I moved to Lisbon", "リスボンに引っ越した", "😺", "a\u2028b"]
    vectors = guarded_embed(load_provider(server.url), texts, "passage")
    wanted = np.array([vector(text) for text in texts])
    assert np.allclose(vectors, wanted / np.linalg.norm(wanted, axis=1, keepdims=True))
    assert server.calls == [["dimension"], texts]


def test_at_most_100_texts_a_call(server):
    texts = [f"text {i}" for i in range(250)]
    vectors = guarded_embed(HttpProvider(server.url), texts, "query")
    assert [len(call) for call in server.calls[1:]] == [100, 100, 50]
    assert [text for call in server.calls[1:] for text in call] == texts
    assert vectors.shape == (250, 3)


@pytest.mark.parametrize(
    ("suffix", "path"),
    [
        ("", "/embed"),
        ("/", "/embed"),
        ("/embed", "/embed"),
        ("/v2/embed/", "/v2/embed"),
        ("/v2?key=1", "/v2/embed?key=1"),
        ("/embed#bge-m3", "/embed"),
    ],
)
def test_where_the_request_goes(server, suffix, path):
    assert HttpProvider(server.url + suffix).info.dim == 3
    assert server.paths == [path]


def test_the_identity_is_address_model_and_dimension(server):
    plain = HttpProvider(server.url).info
    assert plain.label == f"{server.url}/embed"
    assert HttpProvider(f"{server.url}/embed?key=secret").info == plain
    named = HttpProvider(f"{server.url}#bge-m3").info
    server.answer = lambda handler, texts: server.send(handler, b'{"embeddings": [[1, 2]]}')
    smaller = HttpProvider(server.url).info
    assert len({plain.fingerprint, named.fingerprint, smaller.fingerprint}) == 3
    assert named.label == f"{server.url}/embed#bge-m3"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("", "not JSON"),
        ("<html>", "not JSON"),
        (b"\xff\xfe\xff", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[[1, 2, 3]]", 'without "embeddings"'),
        ('{"embedding": []}', 'without "embeddings"'),
        ('{"embeddings": {"0": [1, 2, 3]}}', 'without "embeddings"'),
        ('{"embeddings": [1, 2]}', 'without "embeddings"'),
        ('{"embeddings": []}', "0 vectors for 2 texts"),
        ('{"embeddings": [[1, 2, 3]]}', "1 vectors for 2 texts"),
        ('{"embeddings": [[1, 2, 3], [1, 2]]}', "ragged vectors: 3 and 2"),
        ('{"embeddings": [[1, 2], [1, 2]]}', "2 numbers per vector, before 3"),
        ('{"embeddings": [[], []]}', "not a list of numbers"),
        ('{"embeddings": [[1, 2, 3], [1, "2", 3]]}', "vector 1 that is not a list of numbers"),
        ('{"embeddings": [[1, 2, 3], [1, true, 3]]}', "vector 1 that is not a list of numbers"),
        ('{"embeddings": [[1, 2, 3], [1, null, 3]]}', "vector 1 that is not a list of numbers"),
        ('{"embeddings": [[1, 2, 3], [1, [2], 3]]}', "vector 1 that is not a list of numbers"),
        ('{"embeddings": [[1, 2, NaN], [1, 2, 3]]}', "vector 0 that is not finite"),
        ('{"embeddings": [[1, 2, -Infinity], [1, 2, 3]]}', "vector 0 that is not finite"),
        ('{"embeddings": [[1, 2, 1e999], [1, 2, 3]]}', "vector 0 that is not finite"),
        ('{"embeddings": [[1, 2, 1' + "0" * 400 + "], [1, 2, 3]]}", "vector 0 that is not finite"),
        ('{"embeddings": [[1, 2, 1e300], [1, 2, 3]]}', "vector 0 is not finite"),
        ('{"embeddings": [[1, 2, 3], [0, 0, 0]]}', "vector 1 is zero"),
    ],
)
def test_a_wrong_answer_is_refused(server, body, message):
    answering(server, body)
    with pytest.raises(EmbeddingError, match=message):
        guarded_embed(HttpProvider(server.url), ["one", "二"], "passage")


@pytest.mark.parametrize("status", [204, 400, 404, 500])
def test_a_status_other_than_200_is_refused(server, status):
    answering(server, b"", status=status)
    with pytest.raises(EmbeddingError, match=f"answered with status {status}"):
        guarded_embed(HttpProvider(server.url), ["a"], "query")


def test_a_redirect_is_not_followed(server):
    answering(server, b"", status=307, Location=f"{server.url}/elsewhere")
    with pytest.raises(EmbeddingError, match="answered with status 307"):
        guarded_embed(HttpProvider(server.url), ["a"], "query")
    assert server.paths == ["/embed", "/embed"]


def test_a_huge_answer_is_cut_off(server):
    answering(server, b" " * 5000)
    provider = HttpProvider(server.url, max_bytes=4999)
    with pytest.raises(EmbeddingError, match="more than 4999 bytes"):
        guarded_embed(provider, ["a"], "query")


def test_an_endless_answer_is_cut_off(server):
    def pour(handler, texts):
        handler.send_response(200)
        handler.end_headers()
        while not server.release.is_set():
            handler.wfile.write(b"[" * 65536)

    server.answer = pour
    with pytest.raises(EmbeddingError, match="more than 1000000 bytes"):
        HttpProvider(server.url, max_bytes=10**6).embed(["a"], kind="query")


@pytest.mark.parametrize("length", [100, None])
def test_a_server_that_dies_in_its_answer(server, length):
    half = b'{"embeddings": [[1, 2,'
    answering(server, half, length=length)
    with pytest.raises(EmbeddingError, match=r"middle of its answer|not JSON"):
        guarded_embed(HttpProvider(server.url), ["a"], "query")


def test_a_server_that_hangs_up(server):
    server.answer = lambda handler, texts: handler.connection.close()
    with pytest.raises(EmbeddingError, match="cannot be used"):
        HttpProvider(server.url).embed(["a"], kind="query")


def test_a_silent_server_is_given_up(server):
    server.answer = lambda handler, texts: server.release.wait(60)
    with pytest.raises(EmbeddingError, match=r"did not answer within 0\.2 s"):
        HttpProvider(server.url, timeout=0.2).embed(["a"], kind="query")


@pytest.mark.parametrize("with_headers", [True, False])
def test_a_trickling_server_is_given_up_and_hung_up_on(server, with_headers):
    """Each byte comes in time, the whole never does: only a bound on the total helps."""
    hung_up = threading.Event()

    def trickle(handler, texts):
        if with_headers:
            handler.send_response(200)
            handler.end_headers()
        else:
            handler.wfile.write(b"HTTP/1.0 200 ")
        try:
            while not server.release.is_set():
                handler.wfile.write(b" ")
                time.sleep(0.02)
        except OSError:
            hung_up.set()
            raise

    server.answer = trickle
    with pytest.raises(EmbeddingError, match=r"did not answer within 0\.3 s"):
        HttpProvider(server.url, timeout=0.3).embed(["a"], kind="query")
    assert hung_up.wait(30)


def test_no_server_and_then_one(server):
    provider = HttpProvider(server.url)
    answer, server.answer = server.answer, lambda handler, texts: handler.connection.close()
    with pytest.raises(EmbeddingError, match="cannot be used"):
        provider.info  # noqa: B018
    server.answer = answer
    assert provider.info.dim == 3


def test_nobody_listens():
    closed = Server()
    closed.close()
    with pytest.raises(EmbeddingError, match=f"embedding server {closed.url}/embed cannot be used"):
        guarded_embed(HttpProvider(closed.url), ["a"], "query")


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("http://", "allowed are http://HOST"),
        ("http:///embed", "allowed are http://HOST"),
        ("http://localhost:port", "malformed"),
        ("http://localhost:99999", "malformed"),
        ("http://[::1", "malformed"),
        ("http://localhost/a b", "percent-encode"),
        ("http://localhost/猫", "percent-encode"),
        ("http://localhost/\r\nHost: x", "percent-encode"),
        ("http://example.org", "plain http is allowed on this machine only"),
        ("http://10.0.0.1", "plain http is allowed on this machine only"),
        ("http://localhost.example.org", "plain http is allowed on this machine only"),
    ],
)
def test_an_address_that_is_not_allowed(url, message):
    with pytest.raises(UsageError, match=message):
        load_provider(url)


def test_a_password_is_refused_and_not_repeated():
    with pytest.raises(UsageError) as caught:
        load_provider("https://ana:hunter2@example.org")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["https://example.org", "http://localhost:1", "http://[::1]:1", "http://127.1.2.3"]
)
def test_addresses_that_are_allowed(url):
    load_provider(url)


def test_plain_http_elsewhere_on_request():
    HttpProvider("http://embedder.internal", allow_insecure=True)
