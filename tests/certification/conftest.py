import pytest

from evoke import EvokeClassifier, tasks
from evoke.reproduce import PRESETS


@pytest.fixture(scope="session")
def models():
    """Tuned models that accept strings of any length."""
    return [EvokeClassifier(**PRESETS["tuned"], random_state=seed).fit(*tasks.anbncn(10)) for seed in range(3)]
