"""The names that others rely on change on purpose only."""

from tools.public_names import NAMES, REMAKE, made


def test_no_public_name_changes_unnoticed() -> None:
    before, now = (set(text.splitlines()) for text in (NAMES.read_text("utf-8"), made()))
    assert before == now, (
        f"public names differ from {NAMES.name}: files, prompts and scripts of users may hold them. "
        f"If that is meant: `{REMAKE}`, and a line in CHANGELOG.md"
    )
