"""Fitted models in other forms: one C99 file without any library, ONNX, and a web page."""

from evoke.export.c_file import c_source, to_c
from evoke.export.onnx_file import to_onnx
from evoke.export.web import html_page, to_html

__all__ = ["c_source", "html_page", "to_c", "to_html", "to_onnx"]
