"""Reading ahead and writing behind in threads, while the calling one computes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

__all__ = ["ahead", "behind"]

_MOST = 2  # items that wait, so that memory has a bound

Item = TypeVar("Item")


def ahead(items: Iterable[Item]) -> Iterator[Item]:
    """The items, the next ones of which are made while the caller has one; its errors come where they belong."""
    end, rest = object(), iter(items)
    with ThreadPoolExecutor(1) as pool:
        coming: deque[Future[Any]] = deque(pool.submit(next, rest, end) for _ in range(_MOST))
        try:
            while (item := coming.popleft().result()) is not end:
                coming.append(pool.submit(next, rest, end))
                yield item
        finally:
            pool.shutdown(cancel_futures=True)


@contextmanager
def behind(function: Callable[[Item], Any]) -> Iterator[Callable[[Item], None]]:
    """What calls a function with one item after the other, while the caller makes the next; all are done at the end.

    An error of the function is raised by a later call, or at the end.
    """
    with ThreadPoolExecutor(1) as pool:
        waiting: deque[Future[Any]] = deque()

        def later(item: Item) -> None:
            waiting.append(pool.submit(function, item))
            if len(waiting) > _MOST:
                waiting.popleft().result()

        try:
            yield later
            for future in waiting:
                future.result()
        finally:
            pool.shutdown(cancel_futures=True)
