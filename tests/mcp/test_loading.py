"""A server that was loaded quickly collects its garbage as any other."""

import gc

from dapeer.cli import commands


def test_the_garbage_collector_works_again_once_a_server_is_loaded() -> None:
    try:
        with commands.without_garbage_collection():
            assert not gc.isenabled()
        assert gc.isenabled()
    finally:
        gc.unfreeze()
