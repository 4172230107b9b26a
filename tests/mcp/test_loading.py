"""A server that was loaded quickly collects its garbage as any other."""

import gc

from dapeer.mcp import loading


def test_the_garbage_collector_works_again_once_a_server_is_loaded() -> None:
    try:
        with loading.without_garbage_collection():
            assert not gc.isenabled()
        assert gc.isenabled()
    finally:
        gc.unfreeze()
