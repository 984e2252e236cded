"""Checkpoints, from which a run continues after a crash."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evoke._validation.parameters import check_flag, check_integer, is_equal, is_splitter
from evoke.callbacks.accompanying import going_on
from evoke.callbacks.files import MAY_CHANGE, PathOfFit, check_path_of_fit, file_of
from evoke.estimators.base import settled_parameters
from evoke.evolution.run import Callback, Run
from evoke.persistence.atomic import check_replaceable
from evoke.persistence.model import load, save

__all__ = ["Checkpoint"]


@dataclass(frozen=True)
class Checkpoint:
    """Saves the model so far every few generations and at the end of a run, also after an interrupt or an error.

    With ``resume=True`` `fit` continues from the file if it exists: the same script started again after a crash gives,
    bit for bit, what it would have given without the crash. A process that is killed loses no more than the generations
    since the last checkpoint. The run ends after `n_generations` in total, so a script that has finished only reads
    the file.

    The file is a model file (`evoke.load`) with the best network so far. It is not written before a network had a
    finite error.

    Parameters
    ----------
    path : str, PathLike or callable
        One file for one fit: other fits, those of a grid search for instance, are refused unless the path has
        ``{key}`` in it. In its place come 16 digits that are equal for equal parameters, data and `random_state`, so
        that each fit has a file of its own and finds it again. A function is given the `evoke.evolution.Run` and
        returns such a path. ``~`` is expanded. The file is replaced as a whole or not at all.
    every : int, default=10
        Generations from one checkpoint to the next.
    resume : bool, default=True
        Whether to continue from the file. False: start afresh and replace an existing model file.

    Raises
    ------
    ValueError
        A value out of range. In `fit`: the file has other parameters, other data, another `random_state`, or more
        generations than were asked for. It is left as it is.
    ModelFileError
        In `fit`: the file is not a model file or is corrupt; also with ``resume=False``. It is left as it is.
    OSError
        In `fit`: the file cannot be written from the beginning.

    Warns
    -----
    NotWrittenWarning
        In `fit`: the file can no longer be written, or is no model file any more. The run continues, and it is tried
        again every generation; the last file that was complete stays.

    Notes
    -----
    `n_generations`, `n_jobs`, `callbacks`, `warm_start`, `verbose`, `refit`, `max_seconds` and `max_memory` may change
    between starts and are not in the key; the time counts from each of them. A search over one of them gives a function
    instead, such as ``lambda run: f"run-{{key}}-{run.n_generations}.evk"``. With ``random_state=None`` the seed is
    taken from the file. A function among the callbacks that ended a run is asked again only after one more generation;
    `EarlyStopping` ends it where it ended before. After a warm start the generations before it come on top of
    `n_generations`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import evoke
    >>> from evoke.callbacks import Checkpoint
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "run.evk"
    ...     model = evoke.EvokeClassifier(n_generations=4, callbacks=[Checkpoint(file, every=2)], random_state=0)
    ...     model = model.fit(*evoke.tasks.anbncn(3)).set_params(n_generations=6).fit(*evoke.tasks.anbncn(3))
    ...     len(evoke.load(file).history_)
    6
    """

    path: PathOfFit
    every: int = 10
    resume: bool = True

    def __post_init__(self) -> None:
        check_path_of_fit(self.path)
        check_integer("every", self.every, 1)
        check_flag("resume", self.resume)

    def restore(self, run: Run) -> None:
        """Bring the run to where the file is; see `evoke.evolution.Run`."""
        path = file_of(self.path, run)
        check_folder(path)
        if not path.exists():
            return
        if not self.resume:
            load(path)  # a file that is not a model file must not be removed
            Path(os.path.realpath(path)).unlink()  # `save` too keeps a link and replaces what it leads to
            return
        saved = self._read_same_run(run, path)
        state = saved.fitted_.run
        generation = state.esp.generation
        if generation > run.n_generations:
            raise ValueError(
                f"the checkpoint {str(path)!r} is of generation {generation}, but the run is to end with "
                f"{run.n_generations}: raise n_generations, or give another path"
            )
        if generation > run.esp.generation:
            run.history.extend(state.history[len(run.history) :])
            run.first = state.first
            run.esp.load_state_dict(state.esp.state_dict())

    @contextmanager
    def watch(self, run: Run) -> Iterator[Callback]:
        """Write in time and at the end; see `evoke.evolution.Run`."""
        path, written = file_of(self.path, run), run.esp.generation

        def write() -> None:
            nonlocal written
            if run.esp.best is not None and run.esp.generation > written:
                model = run.model()
                model.fitted_.check()  # its records are compared with those in the file
                with going_on(path):
                    if path.exists():  # another fit may have come in between
                        self._read_same_run(run, path)
                    save(model, path)
                    written = run.esp.generation

        try:
            # islands come by some generations at a time
            yield lambda _record, esp: write() if esp.generation // self.every > written // self.every else None
        finally:
            write()

    @staticmethod
    def _read_same_run(run: Run, path: Path) -> Any:
        """The model in the file, which must be of this run."""
        saved, model = load(path), run.model()
        if type(saved) is not type(model):
            raise _of_another_fit(path, f"{type(saved).__name__} instead of {type(model).__name__}")
        ours, theirs = (settled_parameters(estimator, run.problem) for estimator in (model, saved))
        for name in sorted(set(ours) - {*MAY_CHANGE, "random_state"}):
            # what splitters give is compared with the data
            if not all(map(is_splitter, (ours[name], theirs[name]))) and not is_equal(ours[name], theirs[name]):
                raise _of_another_fit(path, f"{name}={theirs[name]!r} instead of {ours[name]!r}")
        state = saved.fitted_.run
        if state.digest != run.problem.digest:
            raise _of_another_fit(path, "other data (or a version of evoke that reads them otherwise)")
        seeded = model.random_state is not None or run.esp.generation > 0
        if seeded and state.esp.state_dict()["entropy"] != run.esp.state_dict()["entropy"]:
            raise _of_another_fit(path, "another random_state")
        pairs = zip(state.history, run.history, strict=False)
        if any(theirs["best_fitness"] != ours["best_fitness"] for theirs, ours in pairs):
            raise _of_another_fit(path, "a warm start from another model")
        return saved


def _of_another_fit(path: Path, what: str) -> ValueError:
    return ValueError(
        f"the checkpoint {str(path)!r} is of another fit: {what}. Every fit needs a path of its own, such as one with "
        "{key} in it"
    )


def check_folder(path: Path) -> None:
    """Check that a file can be written there, now rather than after an hour of work."""
    check_replaceable(path)
    if not os.access(path.parent, os.W_OK | os.X_OK):
        number = errno.EACCES if path.parent.is_dir() else errno.ENOENT
        raise OSError(number, os.strerror(number), str(path.parent))
