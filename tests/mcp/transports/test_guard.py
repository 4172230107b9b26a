"""Who is let in to the HTTP server."""

import pytest

from dapeer.mcp.transports.http_access import OPEN_PATHS, is_loopback, rules_for
from tests.mcp.small import TOKEN, http_client, over_http

HOST = "127.0.0.1:8000"
BEARER = f"Bearer {TOKEN}"
EVERYWHERE = "0.0.0.0"  # noqa: S104 - nothing is bound to it

Headers = dict[str, str]


def headers(values: Headers) -> list[tuple[bytes, bytes]]:
    return [(name.lower().encode(), value.encode("latin-1")) for name, value in values.items()]


@pytest.mark.parametrize(
    ("given", "status"),
    [
        ({"Host": HOST, "Authorization": BEARER}, None),
        ({"Host": "localhost", "Authorization": BEARER}, None),
        ({"Host": "LocalHost:1", "Authorization": BEARER}, None),
        ({"Host": "[::1]:8000", "Authorization": BEARER}, None),
        ({"Host": HOST, "Origin": "http://localhost:3000", "Authorization": BEARER}, None),
        ({"Host": HOST, "Origin": "https://[::1]", "Authorization": BEARER}, None),
        ({"Host": HOST, "Authorization": f"bearer {TOKEN}"}, None),
        ({"Authorization": BEARER}, 421),
        ({"Host": "", "Authorization": BEARER}, 421),
        ({"Host": "evil.example", "Authorization": BEARER}, 421),
        ({"Host": "localhost.evil.example", "Authorization": BEARER}, 421),
        ({"Host": "localhost:8000@evil.example", "Authorization": BEARER}, 421),
        ({"Host": "127.0.0.1.evil.example:8000", "Authorization": BEARER}, 421),
        ({"Host": "10.0.0.7", "Authorization": BEARER}, 421),
        ({"Host": HOST, "Origin": "null", "Authorization": BEARER}, 403),
        ({"Host": HOST, "Origin": "", "Authorization": BEARER}, 403),
        ({"Host": HOST, "Origin": "http://evil.example", "Authorization": BEARER}, 403),
        ({"Host": HOST, "Origin": "http://localhost.evil.example", "Authorization": BEARER}, 403),
        ({"Host": HOST, "Origin": "http://localhost/@evil.example", "Authorization": BEARER}, 403),
        ({"Host": HOST, "Origin": "file://localhost", "Authorization": BEARER}, 403),
        ({"Host": HOST}, 401),
        ({"Host": HOST, "Authorization": "Bearer"}, 401),
        ({"Host": HOST, "Authorization": "Bearer "}, 401),
        ({"Host": HOST, "Authorization": TOKEN}, 401),
        ({"Host": HOST, "Authorization": f"Basic {TOKEN}"}, 401),
        ({"Host": HOST, "Authorization": f"Bearer {TOKEN}x"}, 401),
        ({"Host": HOST, "Authorization": f"Bearer {TOKEN[:-1]}"}, 401),
        ({"Host": HOST, "Authorization": "Bearer t\xf6ken"}, 401),
    ],
)
def test_a_request_is_let_in_or_refused(given: Headers, status: int | None) -> None:
    refusal = rules_for("127.0.0.1", TOKEN).refusal("/mcp", headers(given))
    assert (refusal.status if refusal else None) == status


@pytest.mark.parametrize(
    ("origin", "passes"),
    [
        (f"http://{HOST}", True),
        ("http://localhost:8000", True),
        ("http://localhost:3000", False),
        ("http://localhost", False),
    ],
)
def test_without_a_token_pages_of_other_local_servers_are_refused(
    origin: str, passes: bool
) -> None:
    refusal = rules_for("127.0.0.1", None).refusal(
        "/mcp", headers({"Host": HOST, "Origin": origin})
    )
    assert (refusal is None) == passes


@pytest.mark.parametrize("other", [BEARER, "Bearer x", ""])
def test_of_two_tokens_none_counts(other: str) -> None:
    good = headers({"Host": HOST, "Authorization": BEARER})
    for given in (
        [*good, (b"authorization", other.encode())],
        [(b"authorization", other.encode()), *good],
    ):
        refusal = rules_for("127.0.0.1", TOKEN).refusal("/mcp", given)
        assert refusal is not None
        assert refusal.status == 401


def test_a_second_host_header_is_refused() -> None:
    doubled = headers({"Host": HOST}) + headers({"Host": "evil.example"})
    refusal = rules_for("127.0.0.1", None).refusal("/mcp", doubled)
    assert refusal
    assert refusal.status == 421


@pytest.mark.parametrize(
    ("bound", "host", "passes"),
    [
        ("192.168.7.7", "192.168.7.7:8000", True),
        ("192.168.7.7", "192.168.7.8:8000", False),
        ("Box.local", "box.local", True),
        ("fd00::7", "[fd00::7]:8000", True),
        (EVERYWHERE, "10.1.2.3:8000", True),
        (EVERYWHERE, "evil.example", False),
        ("::", "[fd00::7]", True),
        ("::", "evil.example", False),
    ],
)
def test_the_host_that_is_bound_is_let_in_too(bound: str, host: str, passes: bool) -> None:
    refusal = rules_for(bound, None).refusal("/", headers({"Host": host}))
    assert (refusal is None) == passes


def test_loopback_is_told_from_what_others_reach() -> None:
    assert all(map(is_loopback, ("127.0.0.1", "::1", "localhost")))
    assert not any(map(is_loopback, (EVERYWHERE, "::", "192.168.7.7")))


ROUTES = ("/mcp", "/", "/sse", "/messages", "/health", "/live", "/live/rows", "/unknown")


@pytest.mark.parametrize("path", ROUTES)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
async def test_every_route_is_guarded(path: str, method: str) -> None:
    """Pitfall 21."""
    async with over_http() as (_, url), http_client() as client:

        async def status(**more: str) -> int:
            return (await client.request(method, url + path, headers=more)).status_code

        assert await status(Host="evil.example") == 421
        assert await status(Origin="http://evil.example") == 403
        if path not in OPEN_PATHS:
            assert await status(Authorization="Bearer wrong") == 401


async def test_a_refusal_tells_how_to_be_let_in() -> None:
    async with over_http() as (_, url), http_client(None) as client:
        answer = await client.post(f"{url}/mcp")
        assert answer.headers["www-authenticate"] == 'Bearer realm="dapeer"'
        assert "Authorization: Bearer" in answer.json()["error"]


async def test_without_a_token_everybody_on_this_machine_is_let_in() -> None:
    async with over_http(token=None) as (_, url), http_client(None) as client:
        assert (await client.get(f"{url}/mcp")).status_code not in (401, 403, 421)
