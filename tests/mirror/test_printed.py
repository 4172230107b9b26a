"""What a program prints, and what log points say meanwhile."""

from dapeer.mirror.output import IN_TERMINAL, OutputIntake


def test_what_an_adapter_repeats_of_a_terminal_is_left_out_and_a_log_point_is_not() -> None:
    printed = OutputIntake()
    printed.append_output({"category": "stdout", "output": "once\n", IN_TERMINAL: True}, 0.0, None)
    printed.append_output({"category": "stdout", "output": "once\n"}, 0.0, None)
    assert printed.output.read().text == "once\n"
    printed.append_output({"category": "stdout", "output": "seen 1\n"}, 0.0, ("a.py", 3, 0))
    assert "seen 1" in printed.output.read().text
