import ctypes
import threading

import numpy as np
import pytest
from scipy import stats

from evoke._core.mutation import add_cauchy

SPACING = 2.0**-53  # of NumPy's uniform doubles


def noise(shape, scale=1.0, seed=0):
    chromosomes = np.zeros(shape)
    add_cauchy(chromosomes, scale, np.random.PCG64(seed))
    return chromosomes


class ConstantBits:
    """A bit generator that always draws the same double, laid out as numpy/random/bitgen.h says."""

    class Bitgen(ctypes.Structure):
        _fields_ = [
            ("state", ctypes.c_void_p),
            ("next_uint64", ctypes.c_void_p),
            ("next_uint32", ctypes.c_void_p),
            ("next_double", ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p)),
            ("next_raw", ctypes.c_void_p),
        ]

    def __init__(self, value):
        self.lock = threading.Lock()
        self.draws_with_lock = []
        self._bitgen = self.Bitgen(next_double=self.Bitgen._fields_[3][1](self._draw))
        self._value = value
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        self._name = b"BitGenerator"  # the capsule keeps only a pointer to it
        self.capsule = new(ctypes.addressof(self._bitgen), self._name, None)

    def _draw(self, state):
        self.draws_with_lock.append(self.lock.locked())
        return self._value


@pytest.mark.parametrize("bits", [np.random.PCG64, np.random.MT19937, np.random.Philox, np.random.SFC64])
def test_noise_is_the_tangent_of_the_generators_own_doubles(bits):
    chromosomes = np.full((7, 75), 2.0)  # 525 weights: two full blocks and a rest
    add_cauchy(chromosomes, 0.25, bits(5))
    x = np.random.Generator(bits(5)).random((7, 75)) - 0.5 + SPACING / 2
    # NumPy's tangent of a rounded pi x is inaccurate near its poles: there take the cotangent of the exact distance
    near_pole = np.abs(x) > 0.25
    angle = np.pi * np.where(near_pole, 0.5 - np.abs(x), np.abs(x))
    tangent = np.copysign(np.where(near_pole, 1 / np.tan(angle), np.tan(angle)), x)
    np.testing.assert_allclose(chromosomes - 2.0, 0.25 * tangent, rtol=2e-15, atol=1e-15)


def test_generator_moves_on_by_one_double_a_weight():
    used, counted = np.random.PCG64(1), np.random.PCG64(1)
    add_cauchy(np.zeros((3, 11)), 1.0, used)
    np.random.Generator(counted).random(33)
    assert used.state == counted.state


def test_result_does_not_depend_on_how_the_weights_are_split():
    bits = np.random.PCG64(2)
    parts = np.zeros((40, 36))
    for chromosome in parts:
        add_cauchy(chromosome[np.newaxis], 1.0, bits)
    np.testing.assert_array_equal(parts, noise((40, 36), seed=2))


def test_largest_and_smallest_draw_give_opposite_finite_noise():
    lowest, highest = np.zeros((1, 3)), np.zeros((1, 3))
    add_cauchy(lowest, 1.0, ConstantBits(0.0))
    add_cauchy(highest, 1.0, ConstantBits(1.0 - SPACING))
    np.testing.assert_allclose(lowest, -2 / (np.pi * SPACING), rtol=1e-14)
    np.testing.assert_array_equal(highest, -lowest)


def test_draw_in_the_middle_still_changes_a_zero_weight():
    chromosomes = np.zeros((1, 1))
    add_cauchy(chromosomes, 1.0, ConstantBits(0.5))
    np.testing.assert_allclose(chromosomes, np.pi * SPACING / 2, rtol=1e-14)


def test_lock_of_the_generator_is_held_while_drawing():
    bits = ConstantBits(0.3)
    add_cauchy(np.zeros((2, 3)), 1.0, bits)
    assert bits.draws_with_lock == [True] * 6
    assert not bits.lock.locked()


def test_half_of_the_draws_lie_within_the_scale():
    inside = np.count_nonzero(np.abs(noise((200, 500), scale=0.1)) <= 0.1)
    assert abs(inside - 50_000) < 5 * np.sqrt(100_000 / 4)  # five standard deviations


def test_noise_is_cauchy():
    assert stats.kstest(noise((200, 100), scale=3.0, seed=4).ravel(), stats.cauchy(scale=3.0).cdf).pvalue > 0.01


def test_tails_are_cauchy_too():
    draws = np.abs(noise((1000, 1000), seed=6))
    for size in (100, 10_000):
        expected = 1e6 * 2 * stats.cauchy.sf(size)
        assert abs(np.count_nonzero(draws > size) - expected) < 5 * np.sqrt(expected)


def test_no_weights_is_nothing_to_do():
    bits = np.random.PCG64(0)
    before = bits.state
    add_cauchy(np.zeros((0, 4)), 1.0, bits)
    add_cauchy(np.zeros((4, 0)), 1.0, bits)
    assert bits.state == before


@pytest.mark.parametrize(
    "chromosomes", [np.zeros((4, 4))[:, ::2], np.zeros((4, 4)).T[1:], np.zeros((4, 4), dtype=np.float32), np.zeros(4)]
)
def test_other_buffers_are_refused(chromosomes):
    with pytest.raises(ValueError):
        add_cauchy(chromosomes, 1.0, np.random.PCG64(0))


def test_read_only_weights_are_refused():
    chromosomes = np.zeros((2, 2))
    chromosomes.flags.writeable = False
    with pytest.raises(ValueError):
        add_cauchy(chromosomes, 1.0, np.random.PCG64(0))
