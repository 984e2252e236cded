"""
Yearly sunspot numbers
======================

Learn from the numbers from 1700 to 1920; forecast the years since, one year ahead, and two cycles on the network's own
output. The series is part of the package statsmodels. ``bench/studies/real_data.py`` compares other methods on it.

The site shows this program without running it, as the data are elsewhere. When it was run it said::

    1921 to 1955: 0.111, and 0.416 if next year is like this year
    1956 to 1979: 0.920, and 0.940 if next year is like this year
    1980 to 2008: 0.292, and 0.552 if next year is like this year
    1987 to 2008, network: off by 32 sunspots
    1987 to 2008, 11 years before: off by 45 sunspots

and drew:

.. image:: /figures/example-sunspots.png
   :alt: Sunspot numbers from 1901 to 2008, one year ahead and on the network's own output
"""

# sphinx_gallery_thumbnail_path = 'figures/example-sunspots.png'

import numpy as np

from evoke import EvokeForecaster

try:
    from statsmodels.datasets import sunspots
except ImportError:
    raise SystemExit("the series is in the package statsmodels: pip install statsmodels") from None

data = sunspots.load_pandas().data
years, series = data["YEAR"].to_numpy().astype(int), data["SUNACTIVITY"].to_numpy() / 100.0
known = series[years <= 1920]

# %%
# The series is short and noisy: few cells and linear weights. Readouts are judged on the years that they are trained on
# (``y_val``), because of 221 none can be spared.
model = EvokeForecaster(
    n_cells=5, cell="lstm", readout="pinv", feedback_scale=1.0, mutation_scale=1e-3, n_generations=15,
    subpopulation_size=10, n_trials=3, washout=12, random_state=0,
).fit(known, y_val=known)  # fmt: skip

# %%
# One year ahead: mean squared error over 1535, as is usual for this split, beside the forecast that next year is like
# this year. The cycle that peaked in 1957 was higher than any before.
told = model.predict_one_step(series)
for first, last in ((1921, 1955), (1956, 1979), (1980, 2008)):
    period = (years >= first) & (years <= last)
    before = np.roll(period, -1)
    error, naive = (np.mean((series[period] - guess) ** 2) / 0.1535 for guess in (told[period], series[before]))
    print(f"{first} to {last}: {error:.3f}, and {naive:.3f} if next year is like this year")

# %%
# Two cycles on its own output, from 1986 on.
past, to_come = series[years <= 1986], series[years > 1986]
generated = model.generate(len(to_come), context=past)
cycle_ago = np.resize(past[-11:], len(to_come))
for name, guess in (("network", generated), ("11 years before", cycle_ago)):
    print(f"1987 to 2008, {name}: off by {100 * np.sqrt(np.mean((guess - to_come) ** 2)):.0f} sunspots")

# %%
# The figure, where Matplotlib is installed.
try:
    import matplotlib.pyplot as plt
except ImportError:
    print("for the figure install Matplotlib: pip install matplotlib")
else:
    figure, axes = plt.subplots(figsize=(8, 3), layout="constrained")
    axes.plot(years[years > 1900], 100 * series[years > 1900], color="0.6", label="observed")
    axes.plot(years[years > 1920], 100 * told[years > 1920], linewidth=1, label="one year ahead")
    axes.plot(years[years > 1986], 100 * generated, label="on its own output since 1986")
    axes.set(xlabel="year", ylabel="sunspot number")
    axes.legend(loc="upper left")
    plt.show()
