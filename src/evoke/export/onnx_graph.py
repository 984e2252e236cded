"""Graphs of ONNX, node by node."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["IR_VERSION", "OPSET", "Graph", "onnx_package"]

# The oldest operators that know double precision wherever it is needed here, and the format of files of their time:
# what is old is read by more programs.
OPSET, IR_VERSION = 13, 7

# Numbers from which on equal constants are written once.
_LARGE = 1000


def onnx_package() -> Any:
    """The package onnx.

    Raises
    ------
    ImportError
        It is not installed.
    """
    try:
        return importlib.import_module("onnx")
    except ImportError:
        raise ImportError("to write ONNX takes the package onnx: pip install '.[export]' in a checkout") from None


class Graph:
    """A graph that grows: nodes and constants, by the names of their results.

    Parameters
    ----------
    real : numpy dtype
        Of the numbers.
    name : str
        Its name, with which the names in it begin.
    """

    def __init__(self, real: np.dtype[Any], name: str):
        self._onnx = onnx_package()
        self.real, self.name = real, name
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []
        self._large: dict[Any, str] = {}
        self._n = 0

    def _new(self, kind: str) -> str:
        self._n += 1
        return f"{self.name}_{kind.lower()}_{self._n}"

    def constant(self, values: Any) -> str:
        """A constant: floating-point numbers have the precision of the graph."""
        array = np.asarray(values)
        if array.dtype.kind == "f":
            array = array.astype(self.real)
        array = np.ascontiguousarray(array).reshape(array.shape)  # which makes rows of numbers
        key = (array.dtype.str, array.shape, array.tobytes()) if array.size >= _LARGE else None
        if key in self._large:
            return self._large[key]
        name = self._new("constant")
        if key is not None:
            self._large[key] = name
        self._constants.append(self._onnx.numpy_helper.from_array(array, name))
        return name

    def whole(self, values: Any) -> str:
        """A constant of whole numbers, such as axes."""
        return self.constant(np.asarray(values, dtype=np.int64))

    def labels(self, values: NDArray[Any]) -> tuple[str, np.dtype[Any]]:
        """A constant of classes, and what it is: texts, 64-bit numbers, double, or true and false."""
        name = self._new("constant")
        if values.dtype.kind in "biuf":  # of which none is rounded
            if values.dtype.kind in "iu":
                values = values.astype(np.int64 if values.max() < 2**63 else np.uint64)
            self._constants.append(self._onnx.numpy_helper.from_array(values, name))
            return name, values.dtype
        texts = [str(value).encode() for value in values]
        self._constants.append(
            self._onnx.helper.make_tensor(name, self._onnx.TensorProto.STRING, [len(texts)], texts)
        )
        return name, np.dtype("U1")

    def several(self, kind: str, n: int, *inputs: str, names: tuple[str, ...] = (), **attributes: Any) -> list[str]:
        """A node with n results."""
        outputs = list(names) or [self._new(kind) for _ in range(n)]
        self._nodes.append(self._onnx.helper.make_node(kind, list(inputs), outputs, **attributes))
        return outputs

    def add(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """A node with one result."""
        return self.several(kind, 1, *inputs, **attributes)[0]

    def cast(self, value: str, dtype: Any = None) -> str:
        """To another type; by default that of the numbers."""
        return self.add("Cast", value, to=self._kind(self.real if dtype is None else dtype))

    def turned(self, value: str, real: np.dtype[Any]) -> str:
        """To another precision, which numbers have from here on."""
        if real == self.real:
            return value
        self.real = real
        return self.cast(value)

    def reshape(self, value: str, *shape: int) -> str:
        """Into another shape, in which 0 keeps a size and -1 stands for what is left."""
        return self.add("Reshape", value, self.whole(shape))

    def size(self, value: str, axis: int) -> str:
        """The size of an axis, of shape (1,)."""
        return self.add("Gather", self.add("Shape", value), self.whole([axis]))

    def parts(self, value: str, sizes: list[int], axis: int) -> list[str]:
        """Pieces of these sizes."""
        return self.several("Split", len(sizes), value, self.whole(sizes), axis=axis)

    def input(self, name: str, shape: list[Any] | None, dtype: Any = None) -> str:
        """Something that is given."""
        self._inputs.append(self._value(name, shape, dtype))
        return name

    def output(self, value: str, name: str, shape: list[Any] | None, dtype: Any = None) -> None:
        """Something that is asked for."""
        self.several("Identity", 1, value, names=(name,))
        self._outputs.append(self._value(name, shape, dtype))

    def _value(self, name: str, shape: list[Any] | None, dtype: Any) -> Any:
        kind = self._kind(self.real if dtype is None else dtype)
        return self._onnx.helper.make_tensor_value_info(name, kind, shape)

    def _kind(self, dtype: Any) -> int:
        if np.dtype(dtype).kind == "U":
            return int(self._onnx.TensorProto.STRING)
        return int(self._onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))

    def made(self) -> Any:
        """The graph as it is to be written."""
        return self._onnx.helper.make_graph(self._nodes, self.name, self._inputs, self._outputs, self._constants)

    def scan(self, body: Graph, states: list[str], rows: list[str], n_kept: int) -> list[str]:
        """A loop over the first axis of the rows: states at the end, then what is kept of each step."""
        return self.several("Scan", len(states) + n_kept, *states, *rows, body=body.made(), num_scan_inputs=len(rows))

    def model(self, version: str, words: str, properties: dict[str, str]) -> Any:
        """A model of this graph, checked."""
        helper = self._onnx.helper
        model = helper.make_model(
            self.made(), producer_name="evoke", producer_version=version, doc_string=words, ir_version=IR_VERSION,
            opset_imports=[helper.make_opsetid("", OPSET)],
        )  # fmt: skip
        if properties:
            helper.set_model_props(model, properties)
        self._onnx.checker.check_model(model, full_check=True)
        return model
