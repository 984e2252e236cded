"""Attributes that are computed when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

__all__ = ["computed_once"]

Value = TypeVar("Value")


class computed_once(Generic[Value]):
    """As `functools.cached_property`, but without the lock that it has up to Python 3.11.

    All objects of a class share that lock. A process that is forked while another thread holds it inherits it held, and
    waits for ever. Two threads that ask at once may both compute the value, which is the same.
    """

    def __init__(self, function: Callable[[Any], Value]):
        self.function = function
        self.__doc__ = function.__doc__

    def __set_name__(self, _owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> computed_once[Value]: ...

    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...

    def __get__(self, instance: object | None, owner: type) -> Value | computed_once[Value]:
        if instance is None:
            return self
        value = self.function(instance)
        # kept where the object looks first; that a dataclass is frozen does not matter there
        return vars(instance).setdefault(self.name, value)
