"""A start's inputs are a mapping by name, which a definition's placeholders fill in: no checker of types sees a mistyped name."""

import ast
from collections.abc import Iterator

from dapeer.adapters.definition.definition import INPUTS, OWN
from tools.source import Source, parse

NOT_OF_DEFINITIONS = {"remark", "exception_filters"}
"""What a caller is told of the start, and what its hints may name, too."""
READ = """
class Plan:
    def title(self):
        if "pdi" in self.inputs:
            return {**self.inputs, "prot": self.inputs["progam"]}
        return inputs.get("cwdd", config.get("any"))
"""


def is_inputs(node: ast.AST) -> bool:
    """Whether an expression is the inputs of a start, by its name."""
    match node:
        case ast.Name(id="inputs") | ast.Attribute(attr="inputs"):
            return True
        case _:
            return False


def input_names(tree: ast.AST) -> Iterator[str]:
    """Yield each name by which the inputs of a start are read, asked or changed."""
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(value=inputs, slice=ast.Constant(value=str(name))) if is_inputs(
                inputs
            ):
                yield name
            case ast.Call(
                func=ast.Attribute(value=inputs, attr="get"),
                args=[ast.Constant(value=str(name)), *_],
            ) if is_inputs(inputs):
                yield name
            case ast.Compare(left=ast.Constant(value=str(name)), comparators=[inputs]) if is_inputs(
                inputs
            ):
                yield name
            case ast.Dict(keys=[None, *keys], values=[inputs, *_]) if is_inputs(inputs):
                yield from (str(each.value) for each in keys if isinstance(each, ast.Constant))
            case _:
                pass


def test_inputs_of_a_start_are_called_by_names_that_definitions_know() -> None:
    assert {*input_names(ast.parse(READ))} == {"pdi", "prot", "progam", "cwdd"}
    found = {name for path in Source().modules for name in input_names(parse(path))}
    assert {"program", "pid", "project"} <= found <= {*INPUTS, *OWN, *NOT_OF_DEFINITIONS}
