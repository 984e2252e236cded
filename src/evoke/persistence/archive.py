"""Arrays and a JSON header in one file: an .npz that is read without pickle and without trust."""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
import re
import stat
import sys
import zipfile
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evoke._validation.errors import in_one_line, printable, refusal
from evoke._validation.parameters import check_path
from evoke._version import __version__
from evoke.exceptions import ModelFileError
from evoke.persistence.atomic import replacing

__all__ = ["FORMAT", "read_archive", "refusing", "write_archive"]

# Raised whenever a file would mean something else to an older reader.
FORMAT = 1

_HEADER = "header.json"
_MOST_BYTES = 2**32  # of a file
_MOST_HEADER = 2**24  # as Python's objects it takes up to 30 times as much
_MOST_EMPTY = 2**20  # length of an array with nothing in it
_KINDS = "biufUS"
# The header of an .npy, format 1.0, as NumPy writes it for arrays of these kinds in C order
_NPY = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '([<>|][biufUS]\d{1,9})', 'fortran_order': False, 'shape': \(([\d, ]*)\), \} *\n",
    re.DOTALL,
)


def write_archive(path: Any, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    """Write a file that `numpy.load` reads too; a crash leaves the old file or the new one.

    Equal contents give equal bytes. Entries are stored as they are, not compressed.

    Parameters
    ----------
    path : str, PathLike or file that is open in binary mode
    header : dict
        What JSON can hold, without NaN and infinity. The format and the version of evoke are added to it.
    arrays : dict of str to ndarray
        Booleans, integers, floats, strings and bytes.

    Raises
    ------
    ValueError
        A header that JSON cannot hold or of more than 16 MiB, an array of other dtypes, more than 4 GiB in all.
    OSError
        The file cannot be written.
    """
    file_given = hasattr(path, "write")
    if not file_given:
        check_path(path)
        path = os.path.expanduser(path)
    text = json.dumps({"format": FORMAT, "evoke": __version__, **header}, allow_nan=False).encode()
    if len(text) > _MOST_HEADER:
        raise ValueError(f"the header has {len(text)} bytes, at most {_MOST_HEADER} are allowed")
    arrays = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    for name, array in arrays.items():
        if array.dtype.kind not in _KINDS:
            raise ValueError(f"{name} has dtype {array.dtype}, which the file cannot hold")
    if sum(array.nbytes for array in arrays.values()) > _MOST_BYTES - 2 * _MOST_HEADER:
        raise ValueError(f"the arrays are too large for one file, which may have {_MOST_BYTES} bytes")
    if file_given:  # all at once, so that nothing of it is there after an error; it need not be seekable
        whole = io.BytesIO()
        _write_zip(whole, text, arrays)
        _write_to(path, whole.getbuffer())
    else:
        with replacing(path) as file:
            _write_zip(file, text, arrays)


def _write_zip(file: Any, text: bytes, arrays: dict[str, NDArray[Any]]) -> None:
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(zipfile.ZipInfo(_HEADER), text)  # a ZipInfo has no time of its own
        for name, array in arrays.items():
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, version=(1, 0), allow_pickle=False)


def _write_to(file: Any, content: memoryview) -> None:
    """Write to an open file; one without a buffer may take less than it is given."""
    if isinstance(file, io.TextIOBase):
        raise refusal("path", "be a path or a file that is open in binary mode", file)
    while len(content) > 0:
        n = file.write(content)
        content = content[len(content) if n is None else n :]


def read_archive(path: Any) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read what `write_archive` has written; nothing in the file is executed.

    It takes no more than three times the memory of the file, and half a GiB for its header: all sizes that the file
    states are held against the size that it has.

    Returns
    -------
    header : dict
    arrays : dict of str to ndarray

    Raises
    ------
    ModelFileError
        The file is cut, corrupt, of another kind or of a newer format. The message says which.
    OSError
        There is no such file, or it cannot be read.
    """
    if hasattr(path, "read"):
        content = path.read(_MOST_BYTES + 1)
        if not isinstance(content, bytes):
            raise refusal("path", "be a path or a file that is open in binary mode", path)
        name = getattr(path, "name", None)
        return _unpacked(name if isinstance(name, (str, os.PathLike)) else f"<{type(path).__name__}>", content)
    check_path(path)
    path = os.path.expanduser(path)
    _check_status(path, os.stat(path))  # a device or a pipe is not even opened
    with open(path, "rb", opener=_open_at_once) as file:
        status = os.fstat(file.fileno())  # of this file: another may have taken its name
        _check_status(path, status)
        content = file.read(status.st_size)
    return _unpacked(path, content)


def _unpacked(path: str | os.PathLike[str], content: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    with refusing(path):
        if len(content) > _MOST_BYTES:
            raise ValueError(f"too large: at most {_MOST_BYTES} bytes are allowed")
        header, arrays = _unpack(content)
        _check_format(header)
    return header, arrays


def _check_status(path: str | os.PathLike[str], status: os.stat_result) -> None:
    with refusing(path):
        if not stat.S_ISREG(status.st_mode):
            raise ValueError("not a regular file")
        if status.st_size > _MOST_BYTES:
            raise ValueError(f"too large: {status.st_size} bytes, at most {_MOST_BYTES} are allowed")


def _open_at_once(path: str, flags: int) -> int:
    """A descriptor; a pipe that has just taken the place of a file is not waited for."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


@contextlib.contextmanager
def refusing(path: Any) -> Iterator[None]:
    """Whatever goes wrong in here is the fault of the file, except that there is too little memory."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:  # parsers of foreign bytes trip in many ways
        reason = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
        name = os.fspath(path) if isinstance(path, (str, os.PathLike)) else f"<{type(path).__name__}>"
        raise ModelFileError(f"{name!r} is no model file that can be used: {reason}") from error


def _unpack(content: bytes) -> tuple[Any, dict[str, NDArray[Any]]]:
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
    except Exception as error:
        raise ValueError(f"it is {'cut, corrupt or of another kind' if content else 'empty'} ({error})") from error
    members = archive.infolist()
    names = [member.filename for member in members]
    if _HEADER not in names:
        raise ValueError(f"a zip file without {_HEADER}, not written by evoke")
    if len(set(names)) < len(names):
        raise ValueError("two of its entries have the same name")
    if any(member.compress_type != zipfile.ZIP_STORED for member in members):
        raise ValueError("its entries are compressed, not written by evoke")
    if sum(member.file_size for member in members) > len(content):
        raise ValueError("its entries claim to be larger than the file")
    parts = {}
    for member in members:
        try:
            parts[member.filename] = _parse(member, archive.read(member))  # which checks the CRC
        except MemoryError:
            raise
        except Exception as error:
            reason = printable(str(error)) or type(error).__name__
            raise ValueError(f"{in_one_line(member.filename)} is corrupt: {reason}") from error
    return parts.pop(_HEADER), {name.removesuffix(".npy"): part for name, part in parts.items()}


def _parse(member: zipfile.ZipInfo, part: bytes) -> Any:
    if len(part) != member.file_size:
        raise ValueError("it is cut")
    if member.filename == _HEADER:
        if len(part) > _MOST_HEADER:
            raise ValueError(f"{len(part)} bytes are too many")
        return json.loads(part.decode(), parse_float=_finite, parse_constant=_finite)
    if not member.filename.endswith(".npy"):
        raise ValueError("it does not belong here")
    return _parse_array(part)


def _parse_array(part: bytes) -> NDArray[Any]:
    """The array of an .npy whose size is what its header says."""
    found = _NPY.match(part)
    if not found or found.end() != 10 + int.from_bytes(part[8:10], "little"):
        raise ValueError("no array of numbers or strings as evoke writes them")
    dtype = np.dtype(found[1].decode())
    shape = tuple(int(length) for length in found[2].decode().split(",") if length.strip())
    size = len(part) - found.end()
    if math.prod(shape) * dtype.itemsize != size or math.prod(n or 1 for n in shape) > max(size, _MOST_EMPTY):
        raise ValueError(f"{size} bytes are not an array of shape {shape} and dtype {dtype}")
    array = np.frombuffer(part, dtype, offset=found.end()).reshape(shape).copy()
    if dtype.kind == "b" and array.view(np.uint8).max(initial=0) > 1:
        raise ValueError("bytes that are no booleans")
    if dtype.kind == "U" and array.reshape(-1).view(f"{dtype.str[0]}u4").max(initial=0) > sys.maxunicode:
        raise ValueError("numbers that are no characters")
    return array


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is not finite")
    return value


def _check_format(header: Any) -> None:
    found = header.get("format") if isinstance(header, dict) else None
    if type(found) is not int or found < 1:
        raise ValueError(f"{_HEADER} states no format, not written by evoke")
    version = header.get("evoke")
    if not isinstance(version, str) or not re.fullmatch(r"[\w.+!-]{1,50}", version, re.ASCII):
        raise refusal(f"the version in {_HEADER}", "be that of evoke", version)
    if found > FORMAT:
        raise ValueError(f"its format {found}, of evoke {version}, is newer than {FORMAT}: update evoke")
