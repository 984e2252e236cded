"""
Sequences of your own
=====================

Sequences of different lengths in a list, a label for every step, and a search for parameters with scikit-learn.

The task: a walk of steps up and down, about which the model shall say at every step whether it is above its start. No
window of fixed width can tell, for what matters may be any number of steps back.
"""

import numpy as np
from sklearn.model_selection import GridSearchCV

from evoke import EvokeClassifier


def above(walk):
    return np.where(walk[:, 0].cumsum() > 0, "above", "not above")


rng = np.random.default_rng(0)
X = [rng.choice([-1.0, 1.0], size=(length, 1)) for length in rng.integers(5, 30, size=60)]
y = [above(x) for x in X]
print(f"{len(X)} sequences of {min(map(len, X))} to {max(map(len, X))} steps, the first: {X[0].shape}, {y[0][:3]}")

# %%
# Half of the sequences are held out within every fit, to judge the networks that evolution tries. What is left over for
# the search of parameters is divided once more by its folds.
search = GridSearchCV(
    EvokeClassifier(n_generations=10, subpopulation_size=20, random_state=0),
    {"n_cells": [2, 5], "cell": ["lstm", "evolino"]},
    cv=3,
)
search.fit(X[:40], y[:40])
for settings, score in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True):
    print(f"{score:.3f}  {settings}")

# %%
# Sequences that it has not seen, ten times as long as the longest of them.
model = search.best_estimator_
print(f"unseen: {model.score(X[40:], y[40:]):.3f} of the steps right")
walk = rng.choice([-1.0, 1.0], size=(290, 1))
print(f"a walk of {len(walk)} steps: {model.score([walk], [above(walk)]):.3f} of the steps right")

# %%
# Step by step: `stream` carries the state, the model itself keeps none.
reader = model.stream()
print([str(reader.step(x)) for x in X[-1][:5]], "beside", y[-1][:5].tolist())
