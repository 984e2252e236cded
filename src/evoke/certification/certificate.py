"""`certify`: every string of a language is accepted, how far, and why."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from evoke._validation.errors import refusal
from evoke._validation.parameters import check_flag, check_integer
from evoke.certification.bounds import Reader
from evoke.certification.counts import CountProof, prove_counts
from evoke.certification.depths import DepthProof, prove_depths
from evoke.certification.families import Brackets, Family, strings_of
from evoke.estimators import EvokeClassifier
from evoke.tasks import Language

__all__ = ["FORMAT", "MOST_COUNT", "Certificate", "certify", "parts_of"]

# Of the file; a checker reads its own only.
FORMAT = 1
# Beyond it floating point does not have all whole numbers.
MOST_COUNT = 2**52


@dataclass(frozen=True)
class Certificate:
    """What `certify` found.

    Attributes
    ----------
    certified : bool
        Whether every string of the language is accepted as far as was asked for: for all counts from 1 on, or for
        brackets of any length and all depths.
    up_to : int
        The counts, or the depth, up to which that is proved; 0: for none. Where not all that was asked for is proved,
        the strings beyond may be accepted or not.
    margin : float
        The least distance of any decision value from zero that the proof allows for, in all strings up to `up_to`.
    reason : str
        Where the proof ended if not certified, else what it rests on.
    proof : CountProof or DepthProof
        The strings, and the invariants of the proof.
    """

    certified: bool
    up_to: int
    margin: float
    reason: str
    proof: CountProof | DepthProof

    def to_json(self) -> str:
        """The certificate for `evoke.certification.checker`, which has no code of the proof.

        Returns
        -------
        str
            JSON, whose numbers are those of the proof to the last bit.
        """
        facts = {"certified": self.certified, "up_to": self.up_to, "margin": self.margin, "reason": self.reason}
        return json.dumps({"format": FORMAT} | facts | self.proof.facts(), indent=1)

    def in_words(self) -> list[str]:
        """The invariants as sentences: of each loop, or of each depth of brackets.

        Returns
        -------
        list of str
        """
        return self.proof.in_words()


def certify(
    model: EvokeClassifier, language: str | Language | Family, up_to: int = MOST_COUNT, quick: bool = False
) -> Certificate:
    """Prove that a fitted classifier accepts every string of a language.

    A string is accepted if all outputs are right at every step: positive where a symbol may follow, else not. The proof
    reads a short string in interval arithmetic, with loops whose rounds are any number: their invariants are found by
    trial and verified by intervals that hold the core's arithmetic in any order of sums and on any instruction set. For
    brackets the invariants are boxes of states for each depth, which no bracket leads out of.

    Parameters
    ----------
    model : EvokeClassifier
        One network in double precision, read at every step by support vector machines with the kernel "rbf" or
        "linear", or by linear weights, an output for each symbol.
    language : str, Language or Family
        "anbn", "anb2n", "anbncn", "anbncndn", "anbncndnen", "anbmcn+m" or "anbmBmAn"; "dyck1", all strings of balanced
        brackets and their beginnings; the language of `evoke.tasks` with one of these names; or a family of one's own.
    up_to : int, default=2**52
        The largest count, or how deep brackets may be, at most 2^52.
    quick : bool, default=False
        Whether to give up sooner: fewer proofs are tried, and where all fail it is not searched how far they would
        reach beyond the first counts.

    Returns
    -------
    Certificate
        With `certified` False where no proof was found, whether the model fails or not; `up_to` then says how far it
        reaches.

    Raises
    ------
    ParameterError
        A model that is no such classifier, or of other symbols; an unknown language; `up_to` out of range.

    Examples
    --------
    >>> from evoke import EvokeClassifier, certify, tasks
    >>> from evoke.reproduce import PRESETS
    >>> model = EvokeClassifier(**PRESETS["tuned"], random_state=0).fit(*tasks.anbncn(10))
    >>> certify(model, "anbncn").up_to == 2**52
    True
    """
    strings = strings_of(language)
    up_to = check_integer("up_to", up_to, 1, MOST_COUNT)
    check_flag("quick", quick)
    reader = Reader(*parts_of(model, strings))
    proof: CountProof | DepthProof
    if isinstance(strings, Family):
        found, proof, reason = prove_counts(reader, strings, up_to, quick=quick)
    else:
        found, proof, reason = prove_depths(reader, strings, up_to, quick=quick)
    return Certificate(found == up_to, found, proof.margin if found else 0.0, reason, proof)


def parts_of(model: Any, strings: Family | Brackets) -> tuple[Any, Any]:
    """The network and the readout of a model that can be certified.

    Raises
    ------
    ParameterError
        It cannot be.
    """
    if not isinstance(model, EvokeClassifier):
        raise refusal("model", "be an EvokeClassifier", model)
    check_is_fitted(model)
    fitted = model.fitted_
    network, readout = fitted.network, fitted.readout
    if fitted.pooling is not None or fitted.scaling is not None or fitted.preparation is not None:
        raise refusal("model", "be one network that reads X as it is, without pooling or scaling", model)
    if network.genome.ndim != 2 or fitted.per_sequence:
        raise refusal("model", "be one network with targets at every step", model)
    if network.genome.dtype != np.float64:
        raise refusal("model", "be in double precision", network.genome.dtype)
    if fitted.washout:
        raise refusal("model", "have no washout", fitted.washout)
    if readout.kernel.name not in ("rbf", "linear"):
        raise refusal("model", "have the kernel 'rbf' or 'linear'", readout.kernel.name)
    if not fitted.multilabel or (fitted.n_inputs, fitted.n_outputs) != (strings.n_inputs, strings.n_outputs):
        demand = f"have {strings.n_inputs} inputs and {strings.n_outputs} outputs of their own for {strings.name}"
        raise refusal("model", demand, (fitted.n_inputs, fitted.n_outputs))
    return network, readout
