"""
Learn a^n b^n c^n and look at the cells
=======================================

The paper's first experiment: a network reads strings of equally many a, b and c, and says at every step which symbols
may follow. It is trained on n = 1..10 and must count to go beyond.
"""

from evoke import EvokeClassifier, tasks
from evoke.reproduce import PRESETS

X, y = tasks.anbncn(10)
model = EvokeClassifier(**PRESETS["tuned"], random_state=0).fit(X, y)
print(f"{model.n_evaluations_} networks in {len(model.history_)} generations, error {model.best_fitness_:.3g}")
print(f"accepted: all strings up to n = {tasks.anbncn_accepted(model, 300)} (of those up to 300)")

# %%
# The range of each cell's activation in the three parts of a string of n = 20, twice as long as any in the training. A
# cell that hardly moves within a part says which part is being read. The count is kept in the states; it shows where
# an output gate lets it out.
n = 20
phi = model.transform(tasks.anbncn([n])[0])[0]
for cell in range(model.n_cells):
    parts = (phi[1 + k * n : 1 + (k + 1) * n, cell] for k in range(3))
    ranges = (f"{symbol} {part.min():6.3f} to {part.max():6.3f}" for symbol, part in zip("abc", parts, strict=True))
    print(f"cell {cell + 1}: ", ",  ".join(ranges))

# %%
# All its steps, where Matplotlib is installed.
try:
    import matplotlib.pyplot as plt

    from evoke.plot import ActivationDisplay
except ImportError:
    print("for the figure install Matplotlib: pip install matplotlib")
else:
    (sequence,), _ = tasks.anbncn([n])
    symbols = "S" + n * "a" + n * "b" + n * "c"
    ActivationDisplay.from_estimator(model, sequence, symbols=symbols, output_names="abcT")
    plt.show()
