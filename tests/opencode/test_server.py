"""The OpenCode that the other tests use is a real one, whose model does what a test says."""

from pathlib import Path

from tests.opencode.provider import Call, Say
from tests.opencode.server import OpenCode


def test_a_scripted_model_calls_a_tool_of_opencode_and_tells_what_it_said(
    shared: OpenCode, tmp_path: Path
) -> None:
    (tmp_path / "note.txt").write_text("the kettle is on\n")
    prompt = shared.provider.plays(
        "Read the note.",
        Call("read", {"filePath": str(tmp_path / "note.txt")}),
        lambda told: Say(f"It says {'the kettle is on' in told[0]}."),
    )
    session = shared.ask("POST", "/session", {"title": "note"}, tmp_path)["id"]
    parts = {"parts": [{"type": "text", "text": prompt}]}
    answer = shared.ask("POST", f"/session/{session}/message", parts, tmp_path)
    assert [part["text"] for part in answer["parts"] if part["type"] == "text"] == ["It says True."]
    assert "read" in shared.provider.offered()
