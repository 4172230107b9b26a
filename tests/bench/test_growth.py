from tools.bench.growth import COLUMNS, measured


async def test_a_row_of_the_growth_table_holds_all_that_was_measured() -> None:
    row = await measured("locals", 5, samples=1)
    assert set(row.values) == set(COLUMNS)
    assert all(values.median > 0 for values in row.values.values())
    assert str(row).startswith("| 5 locals | ")
