"""
Sequences of your own
=====================

Sequences of different lengths in a list, a label for every step, and a search for parameters with scikit-learn.

The task: a walk goes up and down, and at every step the model says whether it is above its start. No window of fixed
width can tell, because what matters may be any number of steps back.
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
# The search makes its folds first. Each of its fits then holds out half of its training folds, to judge the networks
# that evolution tries.
search = GridSearchCV(
    EvokeClassifier(n_generations=10, subpopulation_size=20, random_state=0),
    {"n_cells": [2, 5], "cell": ["lstm", "evolino"]},
    cv=3,
)
search.fit(X[:40], y[:40])
for settings, score in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True):
    print(f"{score:.3f}  {settings}")

# %%
# New sequences of the lengths that it has seen; then longer and longer ones, two hundred of each, beside the share of
# the more frequent label. The count that these few generations found is not exact, and its errors add up: the share of
# right answers falls along the walk, and after some 150 steps it is that of guessing. Doing well at the lengths of the
# training promises nothing for ten times as many; ``anbncn.py`` has a task in which the counting is exact.
model = search.best_estimator_
print(f"unseen: {model.score(X[40:], y[40:]):.3f} of the steps right")
right = {}
for length in (29, 58, 116, 290):
    walks = list(rng.choice([-1.0, 1.0], size=(200, length, 1)))
    labels = np.array([above(walk) for walk in walks])
    right[length] = np.array(model.predict(walks)) == labels
    share = (labels == "above").mean()
    print(f"{length:3d} steps: {right[length].mean():.3f} right; the more frequent label: {max(share, 1 - share):.3f}")

# %%
# Step by step: `stream` carries the state, the model itself keeps none.
reader = model.stream()
print([str(reader.step(x)) for x in X[-1][:5]], "beside", y[-1][:5].tolist())

# %%
# The share of right answers along the longest walks, where Matplotlib is installed.
try:
    import matplotlib.pyplot as plt
except ImportError:
    print("for the figure install Matplotlib: pip install matplotlib")
else:
    figure, axes = plt.subplots(figsize=(8, 3), layout="constrained")
    axes.plot(right[290].mean(axis=0))
    axes.axvline(max(map(len, X)), color="0.6", linestyle=":", label="longest walk of the training")
    axes.set(xlabel="step", ylabel="share right", ylim=(0.4, 1.0))
    axes.legend()
    plt.show()
