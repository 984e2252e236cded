"""Objects that accompany a long run: progress bar, early stopping, checkpoints, log.

They are given to the ``callbacks`` of an estimator, in any order. They do not keep anything about a run, so they can be
used again, copied and pickled. See `evoke.evolution.Run` for how to write your own. Often a function ``(record, esp)``
is enough, which is called after every generation and ends the run by returning a true value.
"""

from evoke.callbacks.checkpoint import Checkpoint
from evoke.callbacks.early_stopping import EarlyStopping
from evoke.callbacks.history_log import HistoryLog
from evoke.callbacks.progress import Progress

__all__ = ["Checkpoint", "EarlyStopping", "HistoryLog", "Progress"]
