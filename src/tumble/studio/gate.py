"""Gate: under which names browsers may reach the studio, and what each of them has to show.

    gate = Gate(hosts_for("127.0.0.1"), port=8080)
    value = gate.value_for("a-browser")             # of its cookie
    assert gate.visitor(value.encode()) == "a-browser"

A gate says who may; `tumble.studio.guard` asks it. It is made anew for every run.
"""

import hmac
import ipaddress
import re
import secrets
import socket
from dataclasses import dataclass, field

from tumble.errors import UserError, check_number

LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})
NAME = re.compile(r"[a-z0-9._-]+")
HOST = re.compile(rb"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::([1-9][0-9]{0,4}))?")
PROXY = re.compile(r"(https?)://((?:\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::[1-9][0-9]{0,4})?)")
SAFE = re.compile(r"[A-Za-z0-9_-]{16,}")  # what needs no quoting in an address or a cookie


def new_token() -> str:
    """192 random bits in 32 characters that are safe in an address and in a cookie."""
    return secrets.token_urlsafe(24)


@dataclass(frozen=True)
class Hosts:
    """The host names under which browsers may reach us, as they stand in a Host header.

    Attributes:
      names: in lower case, IPv6 addresses in brackets.
      addresses: whether any literal address will do: no DNS answer can point one elsewhere.
    """

    names: frozenset[str]
    addresses: bool = False

    def allow(self, host: str) -> bool:
        """Whether a host, in lower case and without port, is one of ours."""
        return host in self.names or (self.addresses and _is_address(host))

    def fixed(self, host: str) -> bool:
        """Whether nobody's DNS can point a host elsewhere; its port may then be any, as ports are forwarded."""
        return host in LOOPBACK or _is_address(host)


def hosts_for(bind: str) -> Hosts:
    """The hosts of a server that listens on `bind`: an address, a name, or '' for all interfaces."""
    try:
        address = ipaddress.ip_address(bind.partition("%")[0] or "0.0.0.0")
    except ValueError:
        if not NAME.fullmatch(bind.lower()):
            raise UserError(
                f"no server can listen on '{bind}'; give an address or a name without port,"
                " such as 127.0.0.1, ::1 or 0.0.0.0"
            ) from None
        return Hosts(LOOPBACK | {bind.lower()})
    if address.is_unspecified:
        own = socket.gethostname().lower()
        return Hosts(LOOPBACK | ({own} if NAME.fullmatch(own) else set()), addresses=True)
    return Hosts(LOOPBACK | {f"[{address}]" if address.version == 6 else str(address)})


@dataclass(frozen=True)
class Gate:
    """Whom a `Guard` lets in, and how much of them.

    Attributes:
      hosts: see `hosts_for`.
      port: the one we listen on; the real one, not 0.
      token: what the printed address carries; buys the cookie.
      secret: what cookies are signed with.
      body: bytes of a request's body, at most.
      largest: bytes of a WebSocket message, at most; text counts in UTF-8.
      rate: WebSocket messages a second that a socket may send in the long run.
      burst: messages that it may send at once after a rest.
      sockets: WebSockets open at once, at most.
      behind: the address under which a proxy shows us, 'https://studio.example.org'; '' for none.
    """

    hosts: Hosts
    port: int
    token: str = field(default_factory=new_token, repr=False)
    secret: str = field(default_factory=new_token, repr=False)
    body: int = 1 << 20
    largest: int = 64 << 10
    rate: float = 100.0
    burst: int = 200
    sockets: int = 64
    behind: str = ""

    def __post_init__(self) -> None:
        """Refuse a port, limits, tokens and secrets that would not guard."""
        check_number("port", self.port, 1, 65535)
        for name in ("body", "largest", "burst", "sockets"):
            check_number(name, getattr(self, name), 1)
        check_number("rate", self.rate, 0, above=True)
        for name in ("token", "secret"):
            if not SAFE.fullmatch(getattr(self, name)):
                raise UserError(f"{name} must be 16 or more of the characters A-Z a-z 0-9 _ -; new_token() makes one")
        if self.behind and not PROXY.fullmatch(self.behind):
            raise UserError(
                f"behind '{self.behind}' no browser finds the studio; give the address that browsers see, without a"
                " path and in lower case, such as https://studio.example.org"
            )
        if self.token == self.secret:
            raise UserError("token and secret must differ: the token is seen in the terminal and the address bar")

    def cookie(self, host: str) -> str:
        """The cookie's name for a Host. It has the port in it: browsers send cookies to all ports of a name."""
        match = HOST.fullmatch(host.encode())
        return f"tumble_studio_{match[2].decode() if match and match[2] else 80}"

    def value_for(self, visitor: str) -> str:
        """The cookie's value for a browser: its name, signed."""
        return f"{visitor}.{hmac.new(self.secret.encode(), visitor.encode(), 'sha256').hexdigest()}"

    def visitor(self, value: bytes) -> str | None:
        """The browser that a cookie's value was made for; None where we did not make it."""
        visitor = value.partition(b".")[0].decode("latin-1")
        return visitor if equal(value, self.value_for(visitor)) else None

    @property
    def proxy(self) -> str:
        """The Host of the proxy, '' without one."""
        return self.behind.partition("://")[2]


def equal(got: bytes, want: str) -> bool:
    """Whether they are the same, in a time that does not tell where they differ."""
    return hmac.compare_digest(got, want.encode())


def _is_address(host: str) -> bool:
    """Whether a host is a literal address: 10.0.0.7 or [fe80::1], without a zone."""
    bracketed = host.startswith("[")
    try:
        return "%" not in host and (ipaddress.ip_address(host.strip("[]")).version == 6) == bracketed
    except ValueError:
        return False
