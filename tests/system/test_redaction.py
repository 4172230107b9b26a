"""Secrets in texts and data, by their form and by the name of what holds them; and what only looks like one."""

from typing import Any

import pytest

from dapeer.base.redaction import Redaction, mask, redacted

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


def test_in_data_what_stands_beside_a_name_is_masked_as_in_a_text() -> None:
    opened = [{"name": "'name'", "value": "'password'"}, {"name": "'value'", "value": "'hunter2'"}]
    pair = [{"name": "0", "value": "'x-api-key'"}, {"name": "1", "value": "'abcdef1234567'"}]
    assert (
        Redaction().data({"variables": opened})["variables"][1]["value"] == f"'{mask('password')}'"
    )
    assert Redaction().data({"variables": pair})["variables"][1]["value"] == f"'{mask('api-key')}'"
    cookie = {"name": "'Cookie'", "value": "'sid=abcdef1234567'"}
    assert Redaction().data(cookie)["value"] == f"'sid={mask('cookie')}'"


def test_a_short_secret_is_not_sought_within_numbers_and_words() -> None:
    redaction = Redaction()
    assert redaction.data({"pin": "1234"}) == {"pin": mask("pin")}
    assert redaction.text("port 12345, x1234, 1234") == f"port 12345, x1234, {mask('pin')}"


@pytest.mark.parametrize(
    "text",
    [
        "--" * 100_000 + "password",
        "password: " + "a" * 200_000,
        "password=" * 20_000,
        "-----BEGIN PRIVATE KEY-----" + "abcd " * 40_000,
        "\x1b[1m" * 50_000 + "password",
        "bearer " * 30_000,
        "mysql -u " * 20_000,
        "password  " * 20_000,
        "user | password\n" * 10_000,
        "cookie: a=b; " * 10_000,
        "\n" * 100_000 + "password",
    ],
    ids=[
        "dashes",
        "long",
        "names",
        "key",
        "colours",
        "bearer",
        "command",
        "columns",
        "headings",
        "cookies",
        "lines",
    ],
)
def test_texts_that_were_made_to_be_slow_are_read(text: str) -> None:
    redacted(text)


SECRET = "hunter2x"
FORMS = {
    "pair": "('password', 'hunter2x')",
    "pair of a list": "[('user', 'bob'), ('password', 'hunter2x')]",
    "pair of JSON": '[["password","hunter2x"]]',
    "header": "[('x-api-key', 'hunter2xhunter2x'), ('accept', 'text/html')]",
    "header of bytes": "[(b'authorization', b'Basic hunter2x')]",
    "object": "[{'name': 'password', 'value': 'hunter2x'}]",
    "object, value first": '{"value":"hunter2x","name":"db.password"}',
    "object of another kind": "Header(name='password', value='hunter2x')",
    "manifest": "- name: DB_PASSWORD\n  value: hunter2x",
    "attributes": '<add key="DbPassword" value="hunter2x"/>',
    "element": "<db:password>hunter2x</db:password>",
    "opened object": "  'name': str = 'password'\n  'value': str = 'hunter2x'",
    "opened pair": "  0: str = 'password'\n  1: str = 'hunter2x'",
    "cookie": "Cookie: session=hunter2x; theme=dark",
    "cookie that is set": "{'Set-Cookie': 'sid=hunter2x; Path=/; HttpOnly'}",
    "jar": "<RequestsCookieJar[<Cookie session=hunter2x for example.org/>]>",
    "simple jar": "<SimpleCookie: session='hunter2x' theme='dark'>",
    "cookie of a jar": "Cookie(version=0, name='session', value='hunter2x', port=None)",
    "cookies": "cookies = {'session': 'hunter2x'}",
    "mysql": "mysqldump -u root -phunter2x shop",
    "argv": "['mysql', '-uroot', '-phunter2x', 'shop']",
    "sshpass": "sshpass -p hunter2x ssh host",
    "curl": "curl -u bob:hunter2x https://x.org",
    "redis": "['redis-cli', '-a', 'hunter2x']",
    "docker": "docker login -u bob -p hunter2x",
    "openssl": "openssl rsa -passin pass:hunter2x",
    "data frame": "  user  password\n0  bob  hunter2x\n1  eve  hunter2x",
    "data frame in a line": "df = (1, 2) user str, password str | user password | 0 bob hunter2x",
    "column": "  (1,) password str\n  0  hunter2x",
    "printed column": "0  hunter2x\n1  hunter2x\nName: password, dtype: object",
    "row": "user           bob\npassword  hunter2x",
    "repr of a table": r"'  user  password\n0  bob  hunter2x'",
    "columns of lists": "{'user': {0: 'bob'}, 'password': {0: 'hunter2x', 1: 'hunter2x'}}",
    "list": "passwords = ['hunter2x', 'hunter2x']",
    "CSV": "user,password\nbob,hunter2x\neve,hunter2x",
    "Markdown": "| user | password |\n|------|----------|\n| bob  | hunter2x |",
    "psql": " user | password\n------+----------\n bob  | hunter2x",
    "polars": "│ user ┆ password │\n│ ---  ┆ ---      │\n│ str  ┆ str      │\n╞══════╪══════════╡\n│ bob  ┆ hunter2x │",
    "values of rows": "password: 'hunter2x' → 'hunter2x'",
    "address": "https://a.example/b?sv=1&sig=hunter2x",
    "ODBC": "Driver=ODBC;UID=sa;PWD=hunter2x;",
    "pwd": "pwd = 'hunter2x'",
    "pass_": "pass_ = 'hunter2x'",
    "camel": "dbPass = 'hunter2x'",
    "sentence": "the password is hunter2x, and so on",
    "hash": "password_hash = 'hunter2x'",
}


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_a_secret_is_masked_in_every_form_in_which_it_is_written(text: str) -> None:
    masked = redacted(text)
    assert SECRET not in masked
    assert "<redacted: " in masked


@pytest.mark.parametrize(
    "text", ["pin = '4821'", "pin = 48213", "user_pin: 482134", "otp='123456'", "cvv = 123"]
)
def test_a_number_that_is_a_secret_is_masked(text: str) -> None:
    assert "<redacted: " in redacted(text)


def test_the_ends_of_a_range_of_secrets_are_masked() -> None:
    assert redacted("  pin: whole (30), None (1); 123,400…123,429; each +1") == (
        f"  pin: whole (30), None (1); {mask('pin')}…{mask('pin')}; each +1"
    )
    assert redacted("user.otp: 1,234 ▁▂ █ 9,999") == (f"user.otp: {mask('otp')} ▁▂ █ {mask('otp')}")
    for plain in ("pin: 12…99", "spin: 1,234…9,999", "total: 1,234…9,999; pin"):
        assert redacted(plain) == plain


@pytest.mark.parametrize(
    "text",
    [
        "pwd = '/home/me/src'",
        "the password is wrong",
        "the token is unexpected",
        "token is None",
        "/a?sig=1",
        "passenger = 'Anna123'; passengers = ['Anna1234', 'Bob12345']",
        "tokens = 5; tokens: 12345678; prompt_tokens: 1234567; tokenizer = 'gpt2-1234567890'",
        "monkey = 'bananas12'; keyboard = 'qwerty123'; sort_key: 'name1234567890'",
        "author = 'Jane Doe1'; authors = ['Jane12345', 'x']",
        "fields = ('password', 'email')",
        "fields = ['username', 'password', 'email']",
        "pin = 13; pins = [13, 17]; GPIO.setup(pin, OUT); spinning: 1234; opinion: 12345",
        "PASS: TestFoo1 (0.00s); pass: 12, fail: 3; compass = 'north12345'; bypass = 'route12345'",
        "the password must have 8 characters",
        "{'password': 'Enter your password', 'email': 'Enter 1'}",
        "the secret of 12345 people; secretary = 'Ann123456'",
        "cookies = get(url, timeout=1000); cookies: 12; cookie policy: see page=12",
        '{"name": "token", "value": "NAME"}',
        "{'name': 'user', 'value': 'bob12345'}; name = 'bob', value = 'x12345678'",
        "The user, password and token\nWent, well1234 and fine",
        "docker run -p 8080:80 mysql; mkdir -p /tmp/mysql12; mysql -P 3306 -h host1234; ps -p 12345",
        "curl -u bob https://x; curl -o out:file123 https://x",
        "(2, 2) user str, name str | user name | 0 bob name1234",
        "session = 'abcdefgh12345'; signature = 'abcdef1234567890'",
    ],
)
def test_what_is_no_secret_is_shown(text: str) -> None:
    assert redacted(text) == text
