"""
Who is speaking? Japanese Vowels
================================

Nine men say two vowels; an utterance is 7 to 29 frames of 12 cepstrum coefficients. 270 utterances to learn from, 370
to recognise. The data are part of the package aeon. ``bench/studies/real_data.py`` compares other methods on them.

This is one network, as in the paper, so that its cells can be seen; it needs scaled features and shuffled utterances.
For data of your own begin with the defaults, which need neither and do as well: :doc:`/tutorial`.

The site shows this program without running it, as the data are elsewhere. When it was run it said::

    270 and 370 utterances of 7 to 29 frames
    16 networks in 0.3 s
    accuracy 0.984 with a readout of all 270 utterances

and drew the first utterance, of speaker 1:

.. image:: /figures/example-vowels.png
   :alt: Activations of 100 cells, decision values of nine speakers and the input along an utterance
"""

# sphinx_gallery_thumbnail_path = 'figures/example-vowels.png'

import time

import numpy as np

from evoke import EvokeClassifier
from evoke.sequences import from_panel

try:
    from aeon.datasets import load_japanese_vowels
except ImportError:
    raise SystemExit("the data are in the package aeon: pip install aeon") from None


def utterances(split):
    """Utterances, and their speakers 1 to 9, in turn: the file has all of one speaker together, and the last quarter is
    held out below."""
    X, y = load_japanese_vowels(split=split)
    order = np.argsort([np.sum(y[:i] == y[i]) for i in range(len(y))], kind="stable")
    X = from_panel(X)
    return [X[i] for i in order], y[order].astype(int)


(X, y), (X_test, y_test) = utterances("train"), utterances("test")
frames = np.concatenate(X)
X, X_test = ([(x - frames.mean(axis=0)) / frames.std(axis=0) for x in part] for part in (X, X_test))
print(f"{len(X)} and {len(X_test)} utterances of {min(map(len, X_test))} to {max(map(len, X_test))} frames")

# %%
# The one label of an utterance is read off its last frame. A hundred cells have small weights, and a forget bias for a
# memory of some eight frames. One generation takes the best of 16 random networks: here evolution fits the held-out
# part better, but not the test. A quarter of the utterances judges the networks; `refit` trains the readout of the best
# once more, on all of them.
model = EvokeClassifier(
    n_cells=100, cell="evolino", gate_bias=(0.0, 2.0, 0.0), weight_range=0.1, n_generations=1, subpopulation_size=8,
    n_trials=2, readout="lssvm", objective="squared", gamma=0.01, C=100.0, validation=0.25, random_state=0,
    refit=True,
)  # fmt: skip
begin = time.perf_counter()
model.fit(X, y)
print(f"{model.n_evaluations_} networks in {time.perf_counter() - begin:.1f} s")
print(f"accuracy {model.score(X_test, y_test):.3f} with a readout of all {len(X)} utterances")

# %%
# One utterance: the cells, a decision value for each speaker, of which the last frame counts, and what was read. Where
# Matplotlib is installed.
try:
    import matplotlib.pyplot as plt

    from evoke.plot import ActivationDisplay
except ImportError:
    print("for the figure install Matplotlib: pip install matplotlib")
else:
    ActivationDisplay.from_estimator(model, X_test[0])
    plt.show()
