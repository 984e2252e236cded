"""Threads that read ahead and write behind."""

import threading

import pytest

from evoke.cli.meanwhile import ahead, behind


def test_items_come_in_order_and_few_are_made_ahead():
    made, threads = [], set()

    def items():
        for k in range(9):
            made.append(k)
            threads.add(threading.get_ident())
            yield k

    seen = []
    for item in ahead(items()):
        seen.append(item)
        assert len(made) <= item + 4
    assert seen == made == list(range(9))
    assert threading.get_ident() not in threads


def test_an_error_comes_after_the_items_before_it_and_one_may_stop_early():
    def items():
        yield 1
        yield 2
        raise ValueError("third")

    seen = []
    with pytest.raises(ValueError, match="third"):
        seen.extend(ahead(items()))
    rest = ahead(items())
    assert next(rest) == 1
    rest.close()
    assert list(ahead([])) == []
    assert not [each for each in threading.enumerate() if "ThreadPool" in each.name]


def test_all_is_written_in_order():
    written, threads = [], set()

    def write(item):
        written.append(item)
        threads.add(threading.get_ident())

    with behind(write) as later:
        for k in range(9):
            later(k)
    assert written == list(range(9)) and threading.get_ident() not in threads


@pytest.mark.parametrize("n", [1, 9])
def test_an_error_of_writing_is_raised(n):
    def write(item):
        raise OSError(f"no room for {item}")

    def write_all():
        with behind(write) as later:
            for k in range(n):
                later(k)

    with pytest.raises(OSError, match="no room for 0"):
        write_all()
