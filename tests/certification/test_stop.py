"""The end of a run whose best network is certified, and what becomes of networks that are not."""

from types import SimpleNamespace

import pytest

from evoke import EvokeClassifier, certify, load, tasks
from evoke.callbacks import Checkpoint
from evoke.certification import FAMILIES, CertifiedStop, stop
from evoke.exceptions import ParameterError
from evoke.reproduce import PRESETS
from helpers.watched import Stop, assert_same_model, stop_at
from helpers.weights import changed

ANBN = tasks.language("anbn")
DATA = ANBN.encode(ANBN.strings(5))


def evolve(*callbacks, **parameters):
    settings = {**PRESETS["languages"], "n_generations": 12, "random_state": 0, "callbacks": [*callbacks]}
    model = EvokeClassifier(**settings | parameters)
    return model.fit(*DATA, X_val=DATA[0], y_val=DATA[1])


@pytest.fixture
def refusing(monkeypatch):
    """Certificates that reach as far as a list says, and are never enough; the models they were asked for."""
    asked = []

    def limited(*reaches):
        def certify(model, language, up_to, quick):
            assert quick
            asked.append((model.genome_.tobytes(), model.best_fitness_))
            return SimpleNamespace(certified=False, up_to=reaches[(len(asked) - 1) % len(reaches)])

        monkeypatch.setattr(stop, "certify", certify)
        return asked

    return limited


def test_a_run_ends_with_the_first_certified_network():
    seen = []
    model = evolve(lambda record, esp: seen.append(esp.best_fitness), CertifiedStop("anbn"), n_generations=50)
    assert certify(model, "anbn").up_to == 2**52
    assert len(model.history_) < 50
    assert model.best_fitness_ == seen[-1] < 1.0


@pytest.mark.parametrize("language", [ANBN, "anbn", FAMILIES["anbn"]])
def test_the_language_may_be_given_in_each_form(language):
    assert certify(evolve(CertifiedStop(language, 1000)), "anbn", 1000).certified


def test_another_network_is_looked_at_after_each_that_was_refused(refusing):
    asked = refusing(12)
    model = evolve(CertifiedStop("anbn"))
    assert len(model.history_) == 12
    assert len({genome for genome, _ in asked}) > 3
    # of those that got equally far the one with the least error
    assert (model.genome_.tobytes(), model.best_fitness_) == min(asked, key=lambda each: each[1])


def test_the_one_that_was_certified_the_furthest_is_kept(refusing, tmp_path):
    asked = refusing(12, 300, 12, 12)
    model = evolve(CertifiedStop("anbn"), n_generations=6)
    assert len(asked) in range(2, 6)
    assert (model.genome_.tobytes(), model.best_fitness_) == asked[1]
    model.save(tmp_path / "a.evk")
    assert_same_model(load(tmp_path / "a.evk"), model)


@pytest.mark.parametrize("ending", [KeyboardInterrupt, Stop])
def test_it_is_kept_where_the_run_is_broken_off(refusing, ending):
    asked = refusing(12)

    def end(record, esp):
        if len(asked) == 2:
            raise ending

    model = EvokeClassifier(**PRESETS["languages"], random_state=0, callbacks=[CertifiedStop("anbn"), end])
    with pytest.raises(ending):
        model.fit(*DATA, X_val=DATA[0], y_val=DATA[1])
    assert model.best_fitness_ == min(fitness for _, fitness in asked)


def test_networks_that_decide_wrongly_are_not_looked_at(refusing):
    asked, best = refusing(12), []
    evolve(lambda record, esp: best.append(record["best_fitness"]), CertifiedStop("anbn"))
    assert len(asked) == sum(fitness < 1.0 for fitness in best) < len(best)


def test_the_model_that_is_looked_at_is_the_best_one_so_far(refusing):
    asked, best = refusing(12), []
    evolve(lambda record, esp: best.append((esp.best.tobytes(), esp.best_fitness)), CertifiedStop("anbn"))
    assert asked == [each for each in best if each[1] < 1.0]


def test_any_number_of_jobs_gives_the_same():
    assert_same_model(evolve(CertifiedStop("anbn"), n_jobs=2), evolve(CertifiedStop("anbn")))


def test_a_run_goes_on_from_a_checkpoint(refusing, tmp_path):
    refusing(12)
    straight, path = evolve(CertifiedStop("anbn")), tmp_path / "a.evk"
    with pytest.raises(Stop):
        evolve(CertifiedStop("anbn"), Checkpoint(path), stop_at(6))
    model = evolve(CertifiedStop("anbn"), Checkpoint(path))
    assert model.history_ == straight.history_
    assert_same_model(load(path), model)


@pytest.mark.parametrize("search", [{"search": "cmaes", "n_generations": 40}, {"n_restarts": 2, "migrate_every": 2}])
def test_other_searches(search):
    assert certify(evolve(CertifiedStop("anbn", 1000), **search), "anbn", 1000).certified


@pytest.mark.parametrize(("make", "message"), [
    (lambda: CertifiedStop("x"), "language must be a Family or one of"),
    (lambda: CertifiedStop("anbn", 0), "up_to must be an integer"),
    (lambda: CertifiedStop("anbn", 2**53), "up_to must be at most"),
    (lambda: evolve(CertifiedStop("anbncn")), "model must have 4 inputs"),
])  # fmt: skip
def test_bad_arguments(make, message):
    with pytest.raises(ParameterError, match=f"^{message}"):
        make()


def test_quick_certificates_give_up_sooner():
    model = evolve(CertifiedStop("anbn"))
    assert certify(model, "anbn", quick=True).up_to == 2**52
    # with smaller weights the gates are not quite open, and counters leak
    leaking = changed(model, model.genome_ * 1e-3)
    whole, quick = certify(leaking, "anbn"), certify(leaking, "anbn", quick=True)
    assert not quick.certified
    assert 0 < quick.up_to < whole.up_to
    assert quick.reason
    with pytest.raises(ParameterError, match=r"^quick must be True or False"):
        certify(model, "anbn", quick="no")


@pytest.mark.parametrize("parameters, message", [
    ({"washout": 1}, "model must have no washout"), ({"kernel": "poly"}, "model must have the kernel"),
])  # fmt: skip
def test_a_model_that_cannot_be_certified_is_refused_at_once(parameters, message):
    seen = []
    with pytest.raises(ParameterError, match=message):
        evolve(lambda record, _esp: seen.append(record), CertifiedStop("anbn"), n_generations=3, **parameters)
    assert len(seen) <= 1
