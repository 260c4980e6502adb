"""Secrets are found by shape and context, masked to the last character, and never repeated; tokens are made here."""

from __future__ import annotations

import base64
import random
import string
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noforgetti.policy import provider_rules, secrecy
from noforgetti.policy.verdict import Rule

if TYPE_CHECKING:
    from collections.abc import Callable

RANDOM = random.Random(20260101)
ALNUM, HEX = string.ascii_letters + string.digits, "0123456789abcdef"


def chars(alphabet: str, size: int) -> str:
    """Random characters that start with a digit and a capital, so that no run of the suite meets a rare weak value."""
    head = "7" if alphabet == HEX else "7Q"
    return head + "".join(RANDOM.choice(alphabet) for _ in range(size - len(head)))


def b64(size: int) -> str:
    return base64.b64encode(RANDOM.randbytes(size)).decode()


SECRETS: dict[str, tuple[str, str]] = {
    kind: (before, value)
    for kind, before, value in (
        ("github", "The bot pushes with ", "gh" + "o_" + chars(ALNUM, 36)),
        ("openai", "Embeddings use ", "sk" + "-proj-" + chars(ALNUM + "-_", 60) + "x"),
        ("service account", "Embeddings use ", "sk" + "-svcacct-" + chars(ALNUM, 30) + "_" + chars(ALNUM, 30)),
        ("anthropic", "The key is ", "sk" + "-ant-api03-" + chars(ALNUM, 93) + "AA"),
        ("second half behind a dot", "Use ", "sk" + "-" + chars(ALNUM, 22) + "." + chars(ALNUM, 22)),
        ("id and secret", "The model host takes ", chars(HEX, 32) + "." + chars(HEX, 32)),
        ("unknown provider", "Memory lives at ", "brv" + "_" + chars(ALNUM, 28)),
        ("unknown provider with a hyphen", "Memory lives at ", "hsk" + "-" + chars(ALNUM, 32)),
        ("aws", "Deploys use ", "AK" + "IA" + "7QZX3M5PA2LKWBNC"),
        ("bearer", "Authorization: Bearer ", chars(ALNUM, 40)),
        ("basic", "Authorization: Basic ", b64(24)),
        ("cookie", "Cookie: session=", chars(ALNUM, 32)),
        ("link", "Open https://vault.example.test/secret/", chars(ALNUM, 24)),
        ("query", "Fetch https://api.example.test/v1?api_key=", chars(ALNUM, 24)),
        ("hex after a name", "The Datadog API key is ", chars(HEX, 32)),
        ("webhook secret", "The webhook secret for the shop is ", chars(HEX, 40)),
        ("environment", "export DB_PASSWORD=", chars(ALNUM, 14)),
        ("json", '{"user": "app", "password": "', chars(ALNUM + "#%", 12) + "x"),
        ("yaml", "db:\n  user: app\n  password: ", chars(ALNUM, 12)),
        ("xml", "<password>", chars(ALNUM, 12)),
        ("flag", "Call deploy --token ", chars(ALNUM, 30)),
        ("netrc", "machine x login app password ", chars(ALNUM, 12)),
        ("short password", "password: ", "hunter" + "2"),
        ("password with a sign", "The password for staging is ", "Summer" + "!Rain"),
        ("chinese", "数据库密码：", chars(ALNUM, 14)),
        ("pin", "The door PIN is ", "80" + "4417"),
    )
}


@pytest.mark.parametrize("kind", SECRETS)
def test_secret_is_masked_to_its_last_character_and_the_sentence_stays(kind: str) -> None:
    before, value = SECRETS[kind]

    masked, count = secrecy.redact(f"{before}{value} since spring.")

    assert count == 1
    assert masked.startswith(before.split(" ")[0])
    assert masked.endswith("] since spring.")
    assert value[-6:] not in masked


@pytest.mark.parametrize("kind", SECRETS)
def test_refusal_names_rule_and_place_but_not_the_value(kind: str) -> None:
    before, value = SECRETS[kind]

    refusal = secrecy.refuse(before + value)

    assert refusal is not None
    assert refusal.rule is Rule.SECRET
    assert value not in refusal.message + refusal.hint + refusal.quote


@pytest.mark.parametrize("end", ["\n-----END RSA PRIVATE KEY-----\n", ""])
@pytest.mark.parametrize("newline", ["\n", "\\n"])
def test_key_block_is_masked_whole(newline: str, end: str) -> None:
    body = newline.join(b64(48) for _ in range(20))
    block = "-----BEGIN RSA " + f"PRIVATE KEY-----{newline}{body}{end.replace(chr(10), newline)}"

    masked, _ = secrecy.redact(f'{{"key": "{block}"}} stays')

    assert "[redacted:private-key]" in masked
    assert masked.endswith('"} stays')
    assert not any(line in masked for line in body.split(newline))


def test_login_in_a_url_is_masked_and_the_address_stays() -> None:
    text = "postgres://app:" + chars(ALNUM, 12) + "@db.internal:5432/app"
    assert secrecy.redact(text) == ("postgres://app:[redacted:url-password]@db.internal:5432/app", 1)


@pytest.mark.parametrize(
    "harmless",
    [
        "Password: documented-in-vault",
        "The password lives in the vault under team/db.",
        "Password hashing uses argon2id; the cost is in auth/params.py.",
        "The password manager is KeePassXC.",
        "Set API_KEY=<your key> before the first run.",
        "Use ${CI_TOKEN} or $(cat token.txt), never a literal.",
        "postgres://user:password@localhost:5432/db is the template.",
        "The access token expires after 15min and is signed with RS256.",
        "max_tokens=4096 is the default for drafts.",
        "The token endpoint is https://auth.example.test/oauth2/token.",
        "risk-based-approach-for-all-of-us is the slug.",
        "The fork point is 4be1c9d0f2a8b7c6d5e4f3a2b1c0d9e8f7a6b5c4.",
        "The default tenant is 7f0c3f5e-64b1-4a83-9a3b-0d2d3c1b5a77.",
        "Pods look like web-7d4b9c6f5d-x2x9z.",
        "The chunk main.4f3a2b1c9d8e.js is cached for a year.",
        "cache key: v1-linux-4f3a2b1c9d8e7f60a1b2c3d4",
        "The deploy key is read-only and lives in 1Password.",
        "The flag is called enableNewCheckoutFlowForBeta.",
        "Pin Node to 20.11.1 in CI.",
        "Keys that start with -----BEGIN PRIVATE KEY----- are rejected.",
        "AKIAIOSFODNN7" + "EXAMPLE is the id that the manual uses.",
    ],
)
def test_text_about_secrets_and_random_looking_names_pass(harmless: str) -> None:
    assert secrecy.find(harmless) == ()
    assert secrecy.redact(harmless) == (harmless, 0)


def test_public_key_passes() -> None:
    assert secrecy.find("Host key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA" + b64(30)) == ()


def test_name_of_a_secret_inside_a_digest_is_chance() -> None:
    digest = "Yvqa8UEA+" + "CRedO/JbgU0N/iNI3MaqPrUy3EkYouOxnr9c7g0GR9rDT3F/yDLtLMJaKXzD/HKPoMpefVGfH5YSg=="
    assert secrecy.find(f"The lock file pins sha512-{digest}.") == ()


@pytest.mark.parametrize("rule", provider_rules.rules(), ids=lambda rule: rule.id)
def test_provider_rule_compiles_and_has_keywords(rule: provider_rules.ProviderRule) -> None:
    assert rule.pattern.groups >= 0
    assert all(keyword == keyword.lower() and len(keyword) >= 3 for keyword in rule.keywords)


@given(st.text(st.characters(exclude_categories=())))
def test_redacted_text_holds_nothing_to_find(text: str) -> None:
    assert secrecy.find(secrecy.redact(text)[0]) == ()


PIECES = [before + value for before, value in SECRETS.values()]


@settings(max_examples=60)
@given(
    st.lists(
        st.sampled_from([*PIECES, "password=", "://a:", '"', " ", "\n", "[redacted:token]", "is", "İ"]), max_size=8
    )
)
def test_mixed_secrets_are_all_masked(pieces: list[str]) -> None:
    assert secrecy.find(secrecy.redact("".join(pieces))[0]) == ()


HOSTILE: dict[str, Callable[[], str]] = {
    "letters": lambda: "a" * 1_000_000,
    "words": lambda: "a " * 500_000,
    "nested assignments": lambda: "password=" * 110_000,
    "names": lambda: "the secret key " * 66_000,
    "urls": lambda: "://a:" * 200_000,
    "key headers": lambda: ("-----BEGIN " + "PRIVATE KEY-----\n") * 30_000,
    "token prefixes": lambda: "eyJ-" * 100_000,
    "one line of base64": lambda: b64(750_000),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_megabyte_takes_linear_time(kind: str) -> None:
    text = HOSTILE[kind]()
    half = text[: len(text) // 8]
    secrecy.redact(half)  # compile

    short = _seconds(half)
    assert _seconds(text) < max(0.5, short * 8 * 4)  # quadratic growth would be 64 times the eighth


def _seconds(text: str) -> float:
    start = time.process_time()
    secrecy.redact(text)
    return time.process_time() - start
