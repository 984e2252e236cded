"""An installed evoke in use: fit, save, load, predict and stream, alone and in a hundred threads. Prints a hash.

    python -I first_use.py [MODEL]

MODEL is written if there is no such file; if there is, from another Python, it is read and has to decide alike. Equal
hashes mean equal bits.
"""

import hashlib
import shutil
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from evoke import EvokeClassifier, EvokeForecaster, certify, load, tasks
from evoke.reproduce import PRESETS

THREADS = 100


def main(path=None):
    X, y = tasks.anbncn(10)
    with tempfile.TemporaryDirectory() as folder:
        own = Path(folder) / "model.evk"
        EvokeClassifier(**PRESETS["tuned"], random_state=0).fit(X, y).save(own)
        model = load(own)
        if path is not None and not Path(path).exists():
            shutil.copyfile(own, path)
    outputs = model.decision_function(X)
    for one, other in zip(outputs, load(path).decision_function(X) if path else outputs, strict=True):
        np.testing.assert_array_equal(one, other)
    assert certify(model, "anbncn").up_to >= 1000
    stream = model.stream()
    steps = [stream.decision_function(X[-1][[step]]) for step in range(len(X[-1]))]
    np.testing.assert_array_equal(np.concatenate(steps), outputs[-1])
    with ThreadPoolExecutor(THREADS) as pool:
        for others in pool.map(lambda _: model.decision_function(X), range(THREADS)):
            for one, other in zip(outputs, others, strict=True):
                np.testing.assert_array_equal(one, other)
        fitted = list(pool.map(lambda seed: forecast(seed % 2), range(8)))
    for other in fitted[2:]:
        assert other in fitted[:2]
    everything = b"".join(part.tobytes() for part in (*outputs, *map(np.asarray, fitted[:2])))
    print(hashlib.sha256(everything).hexdigest()[:16])


def forecast(seed):
    """A short forecast as a list."""
    series = np.arange(120) % 17 / 16 + np.arange(120) % 11 / 10  # no sine: its last bit may differ between NumPys
    model = EvokeForecaster(n_generations=2, n_cells=3, washout=20, random_state=seed, n_jobs=1)
    return model.fit(series).predict(10).ravel().tolist()


if __name__ == "__main__":
    main(*sys.argv[1:])
