"""Secrets in texts and data, by their form and by the name of what holds them; and what only looks like one."""

from typing import Any

import pytest

from dapeer.base.system.redaction import Redaction, mask, redacted

KEY = "wJalrXUtnFEMI/K7MDENG/bPxRfiCY"
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA\nabcd+/==\n-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("text", "label", "secret"),
    [
        ("password = 'hunter2'", "password", "hunter2"),
        ("  password: str = 'hunter2'", "password", "hunter2"),
        ("{'user': 'bob', 'passwd': 'hunter2'}", "passwd", "hunter2"),
        ('{"api_key": "1234567890abcdef"}', "api_key", "1234567890abcdef"),
        ("""{"password":"'hunter2'"}""", "password", "hunter2"),
        (r"{\"client_secret\": \"hunter2\"}", "secret", "hunter2"),
        ("char *password = 0x55d0 \"hunter2\"", "password", "hunter2"),
        ("DB_PASSWORD=correcthorse\nHOME=/root", "password", "correcthorse"),
        (f"AWS_SECRET_ACCESS_KEY={KEY}", "access_key", KEY),
        ("os.environ['DB_PASSWORD'] = 'hunter2'", "password", "hunter2"),
        ("host=db password=hunter2 user=x", "password", "hunter2"),
        ("mysql --password hunter2 db", "password", "hunter2"),
        ("https://x.org/?access_token=abc123def456&y=2", "token", "abc123def456"),
        ("postgres://bob:hunter2@localhost/db", "password", "hunter2"),
        ("{'Authorization': 'Basic dXNlcjpwYXNzMTIz'}", "authorization", "dXNlcjpwYXNzMTIz"),
        ("> Bearer abcdef0123456789", "authorization", "abcdef0123456789"),
        ("id AKIAIOSFODNN7EXAMPLE.", "AWS key", "AKIAIOSFODNN7EXAMPLE"),
        ("x ghp_abcdefghijklmnopqrstuvwxyz0123456789", "GitHub token", "ghp_abcdefghijklmnopqrstuvwxyz0123456789"),
        ("sk-ant-api03-abcdefghijklmnop", "key", "sk-ant-api03-abcdefghijklmnop"),
        (f"{PEM}\nnext", "private key", PEM),
        (repr(PEM), "private key", repr(PEM)[1:-1]),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.SflKxwRJ", "JSON Web Token", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.SflKxwRJ"),
        ("jwt = 'eyJhbGciOiJIUzI1NiJ9…", "JSON Web Token", "eyJhbGciOiJIUzI1NiJ9"),
        ("password = 'hunt…", "password", "hunt…"),
        ("-----BEGIN PRIVATE KEY-----\nMIIEowIB…", "private key", "-----BEGIN PRIVATE KEY-----\nMIIEowIB"),
    ],
)  # fmt: skip
def test_a_secret_is_masked_and_nothing_else(text: str, label: str, secret: str) -> None:
    assert redacted(text) == text.replace(secret, mask(label))


@pytest.mark.parametrize(
    "text",
    [
        "token = 'foo'",
        "token = Token(type='NAME', string='x1')",
        "next_token = self.tokens[12]; token: NAME 'x' 1:0",
        "tokens = ['a1', 'b2'], token_count: 12345678901234, max_tokens=4096",
        "token = 'identifier_12'",
        "password = None; password = ''; password = getpass.getpass()",
        "connect(password=args.password1, secret=secret_2)",
        "PASSWORD=$1 TOKEN=${TOKEN} PWD=/home/bob",
        "Password: must have 8 characters, 1 of them a digit",
        "KeyError: 'password'",
        "<div class='sk-container-id-1 sk-estimator-doc-link'>",
        "secret = '/run/secrets/db'",
        "primary_key = 'abcdef123456', sha = '9f86d081884c7d659a2feaa0c55ad015'",
        "password = '********'",
        "https://x.org:8080/a@b",
    ],
)
def test_what_only_looks_like_a_secret_is_shown(text: str) -> None:
    assert redacted(text) == text


def test_colours_hide_no_secret_and_stay_where_they_are() -> None:
    text = "\x1b[32mDB_PASS\x1b[0mWORD=\x1b[1mhun\x1b[0mter2\x1b[0m and \x1b[31mred"
    masked = "\x1b[32mDB_PASS\x1b[0mWORD=\x1b[1m<redacted: password>\x1b[0m and \x1b[31mred"
    assert redacted(text) == masked


def test_in_data_a_value_is_known_by_its_name_and_masked_wherever_the_answer_has_it() -> None:
    redaction = Redaction()
    data: dict[str, Any] = {
        "locals": {"password": "'hunter2'", "token": "Token(1)", "n": "3"},
        "changed": {"password": ["'old-one'", "'hunter2'"]},
        "variables": [{"name": "'DB_PASSWORD'", "value": "'hunter3'"}],
        "line": 3,
    }
    hidden = f"'{mask('password')}'"
    assert redaction.data(data) == {
        "locals": {"password": hidden, "token": "Token(1)", "n": "3"},
        "changed": {"password": [hidden, hidden]},
        "variables": [{"name": "'DB_PASSWORD'", "value": hidden}],
        "line": 3,
    }
    text = redaction.text("password: 'old-one' → 'hunter2'; argv: x -p hunter2")
    assert text == f"password: {hidden} → {hidden}; argv: x -p {mask('password')}"


@pytest.mark.parametrize(
    "text",
    [
        "--" * 1_000_000 + "password",
        "password: " + "a" * 2_000_000,
        "password=" * 200_000,
        "-----BEGIN PRIVATE KEY-----" + "abcd " * 400_000,
        "\x1b[1m" * 500_000 + "password",
        "bearer " * 300_000,
    ],
    ids=["dashes", "long", "names", "key", "colours", "bearer"],
)
def test_megabytes_that_were_made_to_be_slow_are_read(text: str) -> None:
    redacted(text)
