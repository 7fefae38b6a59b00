"""Which URLs an embedding server may have."""

from __future__ import annotations

import http.client
import ipaddress
import ssl
from dataclasses import dataclass
from urllib.parse import urlsplit

from cpersona_jit.errors import UsageError


@dataclass(frozen=True)
class Endpoint:
    """A checked address.

    Attributes
    ----------
    url : str
        Scheme, host, port and path: what is shown and what identifies the server. The query
        is not part of it, because it may hold a key.
    model : str
        The fragment: the user's name for the model behind the address.
    host : str
        Name or IP address.
    port : int or None
        None for the scheme's own.
    target : str
        Path and query, as sent in the request line.
    secure : bool
        Whether the scheme is https.
    """

    url: str
    model: str
    host: str
    port: int | None
    target: str
    secure: bool

    @property
    def label(self) -> str:
        """Name for people."""
        return f"{self.url}#{self.model}" if self.model else self.url

    def connect(self, timeout: float) -> http.client.HTTPConnection:
        """Return a connection that opens when it is used; `timeout` (s) bounds each wait."""
        if self.secure:
            context = ssl.create_default_context()
            return http.client.HTTPSConnection(
                self.host, self.port, timeout=timeout, context=context
            )
        return http.client.HTTPConnection(self.host, self.port, timeout=timeout)


def parse_endpoint(url: str, *, allow_insecure: bool) -> Endpoint:
    """Check a URL and take it apart; ``/embed`` is appended to a path that lacks it.

    Raises
    ------
    UsageError
        If the URL has no host, a bad port, characters that a request line cannot hold, a user
        name or password, or is plain http to another machine without `allow_insecure`.
    """
    try:
        parts = urlsplit(url)
        if "@" in parts.netloc:
            # The URL is not quoted here: the message may end up in a log.
            raise UsageError("embedder URL with a user name or password: not supported")
        port = parts.port
    except ValueError as error:
        raise UsageError(f"embedder URL is malformed: {error}") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"embedder URL {url!r}: allowed are http://HOST and https://HOST")
    if not url.isascii() or not url.isprintable() or " " in url:
        raise UsageError(f"embedder URL {url!r}: percent-encode spaces and non-ASCII characters")
    if parts.scheme == "http" and not allow_insecure and not _is_loopback(parts.hostname):
        raise UsageError(
            f"embedder URL {url!r}: plain http is allowed on this machine only "
            "(localhost, 127.0.0.1, [::1]); use https"
        )
    path = parts.path.rstrip("/")
    if not path.endswith("/embed"):
        path += "/embed"
    target = f"{path}?{parts.query}" if parts.query else path
    return Endpoint(
        url=f"{parts.scheme}://{parts.netloc}{path}",
        model=parts.fragment,
        host=parts.hostname,
        port=port,
        target=target,
        secure=parts.scheme == "https",
    )


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
