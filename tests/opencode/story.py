"""How a model finds the bug of `shop.py`, wherever it debugs."""

from collections.abc import Sequence

from tests.opencode.provider import Call, Say, Step
from tests.programs import Program


def story(shop: Program, program: str) -> Sequence[Step]:
    """Return what a model does that finds the bug; `program` is how it names the file."""

    def report(told: Sequence[str]) -> Say:
        _, _, stepped, taken_off, ended, output = told
        assert f"shop.py:{shop.line('total')} in total" in stepped
        assert "exit code 0" in ended
        assert "to pay 81.00" in output
        return Say(
            f"{taken_off.splitlines()[0].strip()} is taken off of a sum that line {shop.line('item_cost')} reduced."
        )

    last_item = shop.at("add", hit_condition="4")
    return (
        Call("dapeer_dap_run", {"program": program, "breakpoints": [last_item]}),
        Call("dapeer_dap_step_over"),
        Call("dapeer_dap_step_over"),
        Call("dapeer_dap_evaluate", {"expression": "round(total * self.discount, 2)"}),
        Call("dapeer_dap_continue"),
        Call("dapeer_dap_program_output"),
        report,
    )
