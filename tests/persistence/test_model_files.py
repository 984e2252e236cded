"""Files that are cut, changed or made to do harm, and writing that fails: ModelFileError and nothing worse."""

import contextlib
import copy
import errno
import io
import json
import os
import re
import subprocess
import sys
import tracemalloc
import zipfile

import numpy as np
import pytest

import evoke
from evoke import EvokeClassifier, EvokeForecaster, ModelFileError, tasks
from evoke.callbacks import HistoryLog
from evoke.exceptions import NotWrittenWarning, ParameterError
from evoke.persistence import atomic
from evoke.persistence.archive import read_archive, write_archive
from evoke.persistence.atomic import replacing
from evoke.svm import LSSVR, SVC

TINY = dict(n_cells=2, n_generations=2, subpopulation_size=4, n_trials=2, random_state=0)
X = [np.random.default_rng(7).normal(size=(length, 2)) for length in (3, 7, 4, 6)]
ROWS = np.concatenate(X)
SERIES = tasks.superimposed_sines(2, 60)


def model(random_state=0):
    return EvokeClassifier(**{**TINY, "random_state": random_state}).fit(X, [x[:, 0] > 0 for x in X])


MODELS = {
    "classifier": model(np.random.Generator(np.random.Philox(1))),
    "labels": EvokeClassifier(
        **{**TINY, "readout": "lssvm", "validation": 0.25, "random_state": np.random.SeedSequence(2)}
    ).fit(X, np.array(["a", "b", "c", "b"])),
    "forecaster": EvokeForecaster(**{**TINY, "random_state": np.random.RandomState(3)}).fit(SERIES),
    "SVC": SVC().fit(ROWS, np.array(["a", "b", "c", "d"], dtype=object)[np.arange(20) % 4]),
    "LSSVR": LSSVR(gamma=np.float32(0.5)).fit(ROWS, ROWS),
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.evk"


def use(loaded):
    """What a model is for."""
    if isinstance(loaded, EvokeForecaster):
        loaded.generate(3), loaded.predict_one_step(SERIES)
    elif isinstance(loaded, EvokeClassifier):
        loaded.predict(X), loaded.transform(X), loaded.stream().step([0.0, 1.0])
    else:
        loaded.predict(ROWS)
    random_state = getattr(loaded, "random_state", None)
    if isinstance(random_state, (np.random.Generator, np.random.RandomState)):
        random_state.uniform(size=1000)


def is_refused(path):
    """Whether the file is refused; otherwise the model can be used, or says that its numbers are too large."""
    try:
        loaded = evoke.load(path)
    except ModelFileError:
        return True
    try:
        use(loaded)
    except (ValueError, FloatingPointError, RuntimeWarning) as error:
        if not re.search("overflow|diverges", str(error)):
            raise
    return False


def pack(header, arrays=(), compression=zipfile.ZIP_STORED):
    """An archive that is made by other means than ours."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        archive.writestr("header.json", header if isinstance(header, (str, bytes)) else json.dumps(header))
        for name, array in dict(arrays).items():
            with archive.open(f"{name}.npy", "w") as member:
                np.lib.format.write_array(member, np.asarray(array))
    return file.getvalue()


# ---------------------------------------------------------------- any bytes


@pytest.mark.parametrize("name", MODELS)
def test_files_with_changed_bytes(name, path):
    rng = np.random.default_rng(1)
    MODELS[name].save(path)
    raw = path.read_bytes()
    refused = 0
    for k in range(300):
        changed = bytearray(raw)
        if k % 3 == 0:
            del changed[int(rng.integers(len(raw))) :]
        elif k % 3 == 1:  # half of them in the directory at the end, where the sizes are
            at = rng.integers(len(raw)) if k % 2 else len(raw) - 1 - rng.integers(len(raw) // 4)
            changed[at] ^= int(rng.integers(1, 256))
        else:
            begin, end = sorted(rng.integers(len(raw), size=2).tolist())
            changed[begin:end] = rng.bytes(min(end - begin, int(rng.integers(1, 64))))
        path.write_bytes(changed)
        refused += is_refused(path)
    assert refused > 250  # a date or a comment may change


@pytest.mark.parametrize("content", [
    b"", b"\0", b"\x89PNG\r\n\x1a\n" + bytes(100), b"PK\x05\x06" + bytes(18), b"PK\x03\x04" + b"\xff" * 500,
    b"PK\x05\x06" + b"\xff" * 18, b"\x80\x04\x95" + bytes(50), b"a,b\n1,2\n",
], ids=repr)  # fmt: skip
def test_files_of_other_kinds(content, path):
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match="empty" if not content else "cut, corrupt or of another kind|without"):
        evoke.load(path)


def test_other_archives(path):
    np.savez(path.with_suffix(".npz"), a=np.zeros(3))
    with pytest.raises(ModelFileError, match=r"without header\.json, not written by evoke"):
        evoke.load(path.with_suffix(".npz"))
    write_archive(path, {}, {"a": np.arange(3)})
    with pytest.raises(ModelFileError, match="class in the header must be a str, got None"):
        evoke.load(path)


def test_what_is_no_file(tmp_path):
    with pytest.raises(ModelFileError, match="not a regular file"):
        evoke.load(tmp_path)
    with pytest.raises(FileNotFoundError):
        evoke.load(tmp_path / "missing.evk")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="not a regular file"):  # and does not wait for a writer
        evoke.load(tmp_path / "pipe")
    with open(tmp_path / "large", "wb") as file:
        file.truncate(2**40)
    with pytest.raises(ModelFileError, match="too large: 1099511627776 bytes"):
        evoke.load(tmp_path / "large")


def test_a_file_that_is_replaced_while_it_is_read(path, monkeypatch):
    MODELS["SVC"].save(path)
    MODELS["forecaster"].save(path.with_name("other"))
    assert path.stat().st_size != path.with_name("other").stat().st_size
    real = os.stat

    def replaced_after(name, *args, **kwargs):
        status = real(name, *args, **kwargs)
        if os.fspath(name) == os.fspath(path) and path.with_name("other").exists():
            os.replace(path.with_name("other"), path)
        return status

    monkeypatch.setattr(os, "stat", replaced_after)
    use(evoke.load(path))
    monkeypatch.undo()
    assert isinstance(evoke.load(path), EvokeForecaster)


def test_a_pipe_that_takes_the_place_of_a_file_is_not_waited_for(path, monkeypatch):
    os.mkfifo(path)
    MODELS["SVC"].save(path.with_name("other"))
    status = os.stat(path.with_name("other"))
    monkeypatch.setattr(os, "stat", lambda *_args, **_kwargs: status)
    with pytest.raises(ModelFileError, match="not a regular file"):
        evoke.load(path)


# ---------------------------------------------------------------- whole archives with other contents

LEAVES = [None, True, -1, 0, 3, 2**31, 2**62, 10**30, 1e308, "x", "rbf", "\ud800", [], [1, 2], {}, {"float": "nan"},
          {"float": "inf"}, {"tuple": [1]}, {"dict": [[1]]}, {"dict": [[[], 1]]}, {"array": "genome_"}, {"ESP": {}},
          {"array": []}, {"unknown": 1}, {"scalar": "genome_"}, {"SeedSequence": {"dict": [["pool_size", 10**9]]}},
          {"objects": [1, {"tuple": [2]}]}, {"a": 1, "b": 2}]  # fmt: skip


def places(tree, path=()):
    """The path of every part of a tree."""
    yield path
    for key in tree if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else ():
        yield from places(tree[key], (*path, key))


@pytest.mark.parametrize("name", MODELS)
def test_changed_headers(name, path):
    rng = np.random.default_rng(2)
    MODELS[name].save(path)
    header, arrays = read_archive(path)
    refused = n = 0
    for place in [place for place in places(header) if place]:
        for leaf in (..., LEAVES[rng.integers(len(LEAVES))]):
            changed = copy.deepcopy(header)
            parent = changed
            for key in place[:-1]:
                parent = parent[key]
            if leaf is ...:
                del parent[place[-1]]
            else:
                parent[place[-1]] = leaf
            path.write_bytes(pack(changed, arrays))
            refused += is_refused(path)
            n += 1
    assert n > 70
    assert n / 3 < refused < n


@pytest.mark.parametrize("name", MODELS)
def test_changed_arrays(name, path):
    MODELS[name].save(path)
    header, arrays = read_archive(path)
    refused = n = 0
    for key, array in arrays.items():
        for changed in (
            array[None], array[..., None], array[:-1] if array.ndim else array[None, None], array.T.copy(),
            array.astype(np.float32) if array.dtype.kind in "bif" else array.astype("S1"), array.reshape(-1),
            np.full_like(array, array.dtype.type(2**31 - 1) if array.dtype.kind in "if" else array.flat[0]),
            np.full(array.shape, np.nan), np.full(array.shape, -np.inf), np.full(array.shape, "x"), np.zeros(0),
            np.full(array.shape, -1), np.zeros(array.shape, dtype=bool), np.full(array.shape, 1e300), np.array(3.0),
            np.zeros((0, *array.shape)), np.zeros((2**40, 0)), np.concatenate([array.reshape(-1)] * 2),
        ):  # fmt: skip
            path.write_bytes(pack(header, {**arrays, key: changed}))
            refused += is_refused(path)
            n += 1
        path.write_bytes(pack(header, {other: arrays[other] for other in arrays if other != key}))
        with pytest.raises(ModelFileError, match=key):
            evoke.load(path)
    assert n / 3 < refused < n
    path.write_bytes(pack(header, {**arrays, "more": np.zeros(1)}))
    with pytest.raises(ModelFileError, match="unknown 'more'"):
        evoke.load(path)


def header_of(**parts):
    return {"format": 1, "evoke": "0", "class": "SVC", "parameters": {}, "fitted": {}, **parts}


@pytest.mark.parametrize("header, reason", [
    (b'{"format": 1, "a": "\xff"}', "can't decode byte"), ("[" * 10**6, "recursion"),
    ("{", "Expecting"), ("", "Expecting"), ("[]", "no format"), ("{}", "no format"), ("null", "no format"),
    ('{"format": NaN}', "NaN is not finite"), ('{"format": 1, "a": 1e999}', "1e999 is not finite"),
    ('{"format": 1, "a": -Infinity}', "-Infinity is not finite"),
    ('{"format": 1, "a": ' + "9" * 5000 + "}", r"\(4300"),
    ({"format": True}, "no format"), ({"format": 0}, "no format"),
    ({"format": 10**30, "evoke": "7"}, "newer than 1: update evoke"), (header_of(), "n_features_in_"),
    (header_of(**{"class": "os.system"}), "no estimator 'os.system'"),
    (header_of(**{"class": []}), r"class in the .* be a str"),
    (header_of(parameters=None), "must be a dict"), (header_of(parameters={"callbacks": []}), "unknown 'callbacks'"),
    (header_of(parameters={"colour": "rbf"}), "unknown 'colour'"), (header_of(fitted={"fit": 1}), "unknown 'fit'"),
    (header_of(fitted={"__class__": 1}), "unknown '__class__'"), (header_of(fitted={"_kernel": {"array": "a"}}), "'a'"),
])  # fmt: skip
def test_headers_that_say_nothing_good(header, reason, path):
    path.write_bytes(pack(header))
    with pytest.raises(ModelFileError, match=reason):
        evoke.load(path)


def test_a_washout_that_no_sequence_can_have(path):
    EvokeClassifier(**TINY, pool=("mean", "max")).fit(X, np.array(["a", "b", "c", "b"])).save(path)
    header, arrays = read_archive(path)
    header["fitted"]["_washout"] = 10**30
    path.write_bytes(pack(header, arrays))
    with pytest.raises(ModelFileError, match="_washout must be at most"):
        evoke.load(path)


@pytest.mark.parametrize("dtype", [np.float64, np.bool_, "U1"])
def test_support_that_is_no_array_of_integers(dtype, path):
    products = ROWS @ ROWS.T
    SVC(kernel="precomputed").fit(products, np.arange(20) % 2).save(path)
    header, arrays = read_archive(path)
    path.write_bytes(pack(header, arrays | {"support_": arrays["support_"].astype(dtype)}))
    with pytest.raises(ModelFileError, match="support_ must be an array of integers"):
        evoke.load(path)


@pytest.mark.parametrize("strings", ["ab", 3, None, ["a", 3], {"tuple": ["a"]}, {"array": "a"}, [["a"]]])
def test_strings_that_are_no_list_of_text(strings, path):
    MODELS["classifier"].save(path)
    header, arrays = read_archive(path)
    header["parameters"]["n_jobs"] = {"strings": strings}
    path.write_bytes(pack(header, arrays | {"a": np.array(["b"])} if strings == {"array": "a"} else arrays))
    with pytest.raises(ModelFileError, match="strings must be a list of text"):
        evoke.load(path)


NPY = b"\x93NUMPY\x01\x00v\x00"


def npy(text, data=b""):
    return NPY + text.encode().ljust(117) + b"\n" + data


def described(descr="'<f8'", shape="(1,)", order="False", data=bytes(8)):
    return npy(f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}", data)


@pytest.mark.parametrize("member", [
    b"", NPY, b"\x93NUMPY\x02\x00v\x00", described()[:-1], described() + b"\0", described(shape="(2,)"),
    described(shape="(-1,)"), described(shape="(1, -1)"), described(shape="(99999999999999999999,)"),
    described(shape="(4294967296, 4294967296, 8)"), described(shape="(0, 99999999999999999999)", data=b""),
    described(shape=f"({'1, ' * 20})"[:50]), described(shape="(1"), described(shape="1"), described("'|O'"),
    described("'O8'"), described("[('a', '<f8')]"), described("'<U0'", "(0,)", data=b""), described("'<f3'"),
    described("'<c16'", data=bytes(16)), described("'<M8[s]'"), described("'|V8'"), described("'<U999999999'"),
    described(order="True"), described(shape="(1,), 'shape': (2,)"), npy("__import__('os').system('true')"),
    described("'|b1'", data=b"\2"), described("'<U1'", data=b"\0\0\x11\0"), described("'>U1'", data=b"\0\x11\0\0"),
], ids=repr)  # fmt: skip
def test_arrays_that_are_none(member, path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps({"format": 1}))
        archive.writestr("a.npy", member)
    with pytest.raises(ModelFileError, match=r"a\.npy"):
        read_archive(path)


def test_members_that_do_not_belong(path):
    def reason(*members, compression=zipfile.ZIP_STORED):
        with zipfile.ZipFile(path, "w", compression) as archive:
            for name, content in (("header.json", b'{"format": 1}'), *members):
                archive.writestr(name, content)
        with pytest.raises(ModelFileError) as error:
            read_archive(path)
        return str(error.value)

    assert "note.txt is corrupt: it does not belong" in reason(("note.txt", b"x"))
    assert "../../a is corrupt: it does not belong" in reason(("../../a", b"x"))
    assert "compressed" in reason(("a.npy", bytes(10**6)), compression=zipfile.ZIP_DEFLATED)
    with pytest.warns(UserWarning, match="Duplicate"):
        assert "the same name" in reason(("a.npy", described()), ("a.npy", described()))


# ---------------------------------------------------------------- memory


def peak_of(path):
    """Bytes allocated at most while the file is refused."""
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError):
            evoke.load(path)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_small_files_take_little_memory(path):
    MODELS["classifier"].save(path)
    header, arrays = read_archive(path)
    evil = {
        "compressed": pack(b" " * 10**8, compression=zipfile.ZIP_DEFLATED),
        "subpopulation": pack(json.dumps(header).replace('population_size": 4', 'population_size": 999999'), arrays),
        "generation": pack(json.dumps(header).replace('"generation": 2', f'"generation": {2**40}'), arrays),
        "without columns": pack(header, {**arrays, "_esp.weights": np.zeros((2**31, 0))}),
        "header": pack("[" + "{}," * (2**24 // 3 + 1) + "{}]"),
    }  # fmt: skip
    claims = bytearray(pack(header, arrays))
    at = claims.index(b"PK\x01\x02")
    claims[at + 20 : at + 28] = (2**30).to_bytes(4, "little") * 2  # sizes of a member in the directory
    evil["claims"] = bytes(claims)
    for name, content in evil.items():
        path.write_bytes(content)
        assert peak_of(path) < 2**20 + 4 * len(content), name


def test_members_that_share_their_bytes(path):
    content = pack({"format": 1}, {"a": np.zeros(10**5)})
    file = io.BytesIO(content)
    with zipfile.ZipFile(file, "a") as archive:
        info = archive.getinfo("a.npy")
        for k in range(1000):
            twin = copy.copy(info)
            twin.filename = twin.orig_filename = f"a{k}.npy"
            archive.filelist.append(twin)
        archive._didModify = True
    path.write_bytes(file.getvalue())
    assert peak_of(path) < 4 * len(content) + 2**22


# ---------------------------------------------------------------- writing


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("where, what", [
    (os, "fsync"), (os, "replace"), (zipfile.ZipFile, "writestr"), (np.lib.format, "write_array"), (zipfile, "ZipFile"),
    (zipfile.ZipFile, "_write_end_record"), (atomic, "open"),
])  # fmt: skip
def test_a_write_that_fails_leaves_the_old_file(where, what, error, path, monkeypatch):
    MODELS["classifier"].save(path)
    before = path.read_bytes()

    def fail(*args, **kwargs):
        raise error

    monkeypatch.setattr(where, what, fail, raising=False)
    with pytest.raises(type(error)):
        MODELS["SVC"].save(path)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_a_folder_that_cannot_be_synced_is_no_failure(path, monkeypatch):
    fsync = os.fsync

    def only_files(descriptor):
        if os.path.isdir(f"/proc/self/fd/{descriptor}"):
            raise OSError(22, "Invalid argument")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", only_files)
    MODELS["SVC"].save(path)
    use(evoke.load(path))


def test_a_process_that_is_killed_leaves_a_whole_file(path):
    model(1).save(path.with_name("other"))
    model(0).save(path)
    code = """
import os, signal, sys, time
import evoke
path, other = sys.argv[1:]
models = [evoke.load(path), evoke.load(other)]
bytes_of = {open(path, "rb").read(), open(other, "rb").read()}
for k in range(25):
    child = os.fork()
    if child == 0:
        while True:
            for model in models:
                model.save(path)
    time.sleep(0.002 + 0.0007 * k)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert open(path, "rb").read() in bytes_of
print("whole", len(bytes_of))
"""
    done = subprocess.run([sys.executable, "-c", code, path, path.with_name("other")], capture_output=True, text=True)
    assert done.stdout == "whole 2\n", done.stderr
    left = set(os.listdir(path.parent)) - {"other", path.name}
    assert all(name.startswith(".evoke-") and name.endswith(".tmp") for name in left)


def test_two_at_once_write_one_whole_file(path):
    with replacing(path) as file:
        MODELS["SVC"].save(path)
        file.write(b"the later one")
    assert path.read_bytes() == b"the later one"
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize("place", ["missing/model.evk", "file/model.evk", "folder", ".", "x" * 300, "pipe"])
def test_places_that_cannot_be_written(place, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("mine")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError):
        MODELS["SVC"].save(place)
    assert sorted(os.listdir(tmp_path)) == ["file", "folder", "pipe"]
    assert (tmp_path / "file").read_text() == "mine"
    assert os.listdir(tmp_path / "folder") == []


@pytest.mark.parametrize("place", [3, None, ["model.evk"], "", b"model.evk"])
def test_what_is_no_path(place):
    for call in (MODELS["SVC"].save, evoke.load):
        with pytest.raises(ParameterError, match=f"^path must be a path, got {re.escape(repr(place))}$"):
            call(place)


@pytest.mark.parametrize("place, message", [("x\0y", "path must be a path without NUL characters, got 'x\\x00y'"),
                                            ("a\ud800", "path must be a path, got 'a\\ud800'")])  # fmt: skip
def test_paths_that_no_system_can_have(place, message):
    for call in (MODELS["SVC"].save, MODELS["classifier"].save, evoke.load):
        with pytest.raises(ParameterError, match=f"^{re.escape(message)}$"):
            call(place)


@contextlib.contextmanager
def files_of_at_most(n_bytes):
    """A full disk, as far as this process is concerned."""
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_a_full_disk_is_told_with_the_name_of_the_file(path):
    with files_of_at_most(100), pytest.raises(OSError, match=re.escape(f"{os.strerror(errno.EFBIG)}: '{path}'")):
        MODELS["classifier"].save(path)
    log = path.with_name("log.csv")
    rows = EvokeClassifier(**TINY, callbacks=[HistoryLog(log)])
    with files_of_at_most(100), pytest.warns(NotWrittenWarning, match=re.escape(f"'{log}' could not be written: ")):
        rows.fit(X, [x[:, 0] > 0 for x in X])
    assert os.listdir(path.parent) == [log.name]


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
@pytest.mark.parametrize("mode", [0o600, 0o400, 0o664, 0o777])
@pytest.mark.parametrize("linked", [False, True])
def test_the_permissions_of_the_old_file_are_kept(mode, linked, path, monkeypatch):
    old = path.with_name("real") if linked else path
    if linked:
        path.symlink_to(old)
    MODELS["SVC"].save(path)
    usual = old.stat().st_mode
    old.chmod(mode)
    real, written = np.lib.format.write_array, []

    def look(*args, **kwargs):
        written.extend(file.stat().st_mode & 0o777 for file in path.parent.glob(".evoke-*.tmp"))
        real(*args, **kwargs)

    monkeypatch.setattr(np.lib.format, "write_array", look)
    MODELS["classifier"].save(path)
    assert old.stat().st_mode & 0o777 == mode
    assert set(written) == {mode}
    MODELS["classifier"].save(path.with_name("new"))
    assert path.with_name("new").stat().st_mode == usual


def test_a_link_stays_a_link(path):
    path.symlink_to(path.with_name("real"))
    MODELS["SVC"].save(path)
    assert path.is_symlink()
    use(evoke.load(path.with_name("real")))


@pytest.mark.parametrize("name", ["new/", "new/."])
def test_a_name_of_a_folder_is_not_that_of_a_file(name, tmp_path):
    with pytest.raises(IsADirectoryError, match=re.escape(f"{tmp_path}/{name}")):
        MODELS["SVC"].save(f"{tmp_path}/{name}")
    assert os.listdir(tmp_path) == []


def test_links_that_lead_nowhere(path):
    path.symlink_to(path.with_name("other"))
    path.with_name("other").symlink_to(path)
    with pytest.raises(OSError, match=re.escape(f"{os.strerror(errno.ELOOP)}: '{path}'")):
        MODELS["SVC"].save(path)
    assert path.is_symlink() and path.with_name("other").is_symlink()


@pytest.mark.parametrize("array", [np.array([None]), np.zeros(1, dtype=complex), np.zeros(1, dtype="M8[s]"),
                                   np.zeros(1, dtype=[("a", float)])], ids=repr)  # fmt: skip
def test_arrays_that_no_file_can_hold(array, path):
    with pytest.raises(ValueError, match="a has dtype"):
        write_archive(path, {}, {"a": array})
    with pytest.raises(ValueError, match="JSON compliant"):
        write_archive(path, {"a": float("nan")}, {})
    with pytest.raises(ValueError, match="the header has"):
        write_archive(path, {"a": "x" * 2**24}, {})
    assert os.listdir(path.parent) == []


@pytest.mark.parametrize("array", [
    np.zeros((0, 3)), np.float64(2.5), np.arange(6.0).reshape(2, 3).T, np.array(["ä", "bc"]), np.array([b"a"]),
    np.array([[True], [False]]), np.arange(3, dtype=">u2"), np.arange(3)[::-1], np.longdouble(1) / 3,
    np.float16([1, 2]),
], ids=repr)  # fmt: skip
def test_arrays_come_back(array, path):
    write_archive(path, {"a": [1, None, "x"]}, {"a": array})
    header, arrays = read_archive(path)
    assert header == {"format": 1, "evoke": evoke.__version__, "a": [1, None, "x"]}
    assert (arrays["a"].dtype, arrays["a"].shape) == (array.dtype, array.shape)
    np.testing.assert_array_equal(arrays["a"], array)


@pytest.mark.parametrize("kind", [io.BytesIO, open])
def test_open_files_are_written_and_read(tmp_path, kind):
    machine = LSSVR().fit([[0.0], [1.0], [3.0]], [0.0, 1.0, 2.0])
    with io.BytesIO() if kind is io.BytesIO else open(tmp_path / "a.evk", "w+b") as file:
        file.write(b"before")
        machine.save(file)
        file.seek(6)
        np.testing.assert_array_equal(evoke.load(file).dual_coef_, machine.dual_coef_)
        assert not file.closed
    machine.save(tmp_path / "b.evk")
    with open(tmp_path / "b.evk", "rb", buffering=0) as file:
        np.testing.assert_array_equal(evoke.load(file).dual_coef_, machine.dual_coef_)


def test_open_files_that_are_of_text_or_of_another_kind_are_refused(tmp_path):
    machine = LSSVR().fit([[0.0], [1.0], [3.0]], [0.0, 1.0, 2.0])
    with open(tmp_path / "a.txt", "w+") as file:
        for call in (machine.save, evoke.load):
            with pytest.raises(ParameterError, match="path must be a path or a file that is open in binary mode"):
                call(file)
    with pytest.raises(ModelFileError, match=r"'<BytesIO>' is no model file .* it is cut, corrupt or of another kind"):
        evoke.load(io.BytesIO(b"no model"))


def test_the_home_folder_is_meant_by_a_tilde(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    machine = LSSVR().fit([[0.0], [1.0], [3.0]], [0.0, 1.0, 2.0])
    machine.save("~/a.evk")
    assert (tmp_path / "a.evk").exists()
    np.testing.assert_array_equal(evoke.load("~/a.evk").dual_coef_, machine.dual_coef_)


@pytest.mark.parametrize("path", [b"x" * 3_000_000, "x" * 3_000_000, ["x"] * 1_000_000], ids=["bytes", "text", "list"])
def test_messages_do_not_repeat_more_than_a_line_of_a_value(path):
    for call in (evoke.load, LSSVR().fit([[0.0], [1.0], [3.0]], [0.0, 1.0, 2.0]).save):
        with pytest.raises(ParameterError, match="path must be a path") as caught:
            call(path)
        assert len(str(caught.value)) < 120
