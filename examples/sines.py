"""
Continue two superimposed sines
===============================

The paper's second experiment: a network reads 700 steps of sin(0.2 t) + sin(0.311 t), and then its own output for 300
more.
"""

from evoke import EvokeForecaster, tasks
from evoke.reproduce import sines_parameters

split = tasks.SINES_SPLIT
series = tasks.superimposed_sines(2, split.test_end)
known, to_come = series[: split.validation_end], series[split.validation_end :]

model = EvokeForecaster(**sines_parameters("tuned", "lssvm"), washout=split.washout, random_state=0).fit(known)
generated = model.generate(len(to_come))
print(f"summed squared error over {len(to_come)} steps: {((generated - to_come) ** 2).sum():.2g}")
print(f"normalised root mean squared error: {tasks.nrmse(to_come, generated):.2g}")

# %%
# Much further: after 10,000 steps the error is that of a phase that drifts.
longer = tasks.superimposed_sines(2, split.validation_end + 10_000)[split.validation_end :]
print(f"after 10,000 steps: {tasks.nrmse(longer[-300:], model.generate(10_000)[-300:]):.2g}")

# %%
# The figure, where Matplotlib is installed.
try:
    import matplotlib.pyplot as plt
except ImportError:
    print("for the figure install Matplotlib: pip install matplotlib")
else:
    figure, axes = plt.subplots(figsize=(8, 3), layout="constrained")
    axes.plot(to_come, color="0.8", linewidth=4, label="true")
    axes.plot(generated, label="generated")
    axes.set(xlabel="step of the free run", ylabel="y")
    axes.legend(loc="upper right")
    plt.show()
