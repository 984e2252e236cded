"""Fitted models in other forms: one C99 file without any library, and ONNX."""

from evoke.export.c_file import c_source, to_c
from evoke.export.onnx_file import to_onnx

__all__ = ["c_source", "to_c", "to_onnx"]
