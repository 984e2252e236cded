"""
Learn a^n b^n c^n and look at the cells
=======================================

The paper's first experiment: a network reads strings of as many a as b as c, and says at every step which symbols may
follow. It is trained on n = 1..10 and must count to go beyond.
"""

import numpy as np

from evoke import EvokeClassifier, tasks
from evoke.reproduce import PRESETS

X, y = tasks.anbncn(10)
model = EvokeClassifier(**PRESETS["tuned"], random_state=0).fit(X, y)
print(f"{model.n_evaluations_} networks in {len(model.history_)} generations, error {model.best_fitness_:.3g}")
print(f"accepted: all strings up to n = {tasks.anbncn_accepted(model, 300)} (of those up to 300)")

# %%
# The activations of the cells on a string of n = 20, which is twice as long as any of the training. Cells that rise
# while the a are read and fall on the b, or rise on the b and fall on the c, are the counters.
n = 20
phi = model.transform(tasks.anbncn([n])[0])[0]
parts = {"a": phi[1 : n + 1], "b": phi[n + 1 : 2 * n + 1], "c": phi[2 * n + 1 :]}
print("change within a part: ", *(f"{symbol:>8}" for symbol in parts))
for cell in range(phi.shape[1]):
    print(f"                cell {cell}", *(f"{part[-1, cell] - part[0, cell]:8.3f}" for part in parts.values()))

# %%
# The same as a figure, where Matplotlib is installed.
try:
    import matplotlib.pyplot as plt
except ImportError:
    print("for the figure install Matplotlib: pip install matplotlib")
else:
    figure, axes = plt.subplots(figsize=(8, 3), layout="constrained")
    axes.plot(phi)
    for border in (n, 2 * n):
        axes.axvline(border + 0.5, color="0.8")
    axes.set(xlabel="step", ylabel="activation", title=f"cells on a^{n} b^{n} c^{n}", xticks=np.arange(0, 3 * n + 1, 10))
    plt.show()
