"""The ThunderSVM binding: right coefficients, refused input, and nothing that the library does to its process."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel, rbf_kernel
from sklearn.svm import SVC, SVR

from evoke._core import dispatch
from evoke.svm import _thundersvm
from evoke.svm._thundersvm import ThunderSVMError, train

needs_library = pytest.mark.skipif(not _thundersvm.available(), reason=str(_thundersvm.info()["error"]))


def run_python(code, timeout=120, **environment):
    """Run code in a new interpreter, where a crash or a hang is an ordinary test failure."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=timeout,
        env={**os.environ, **environment},
    )


def classification_problem(rng, n, d=3):
    X = rng.normal(size=(n, d))
    labels = np.where(X[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
    labels[:2] = rng.permutation([-1.0, 1.0])
    return X, labels


def gram(X, kernel):
    return {
        "linear": linear_kernel(X),
        "poly": polynomial_kernel(X, degree=2, gamma=0.5, coef0=1),
        "rbf": rbf_kernel(X, gamma=0.5),
    }[kernel]


KERNEL_PARAMETERS = {"gamma": 0.5, "degree": 2, "coef0": 1.0}


def svc_objective(beta, K):
    return np.abs(beta).sum() - beta @ K @ beta / 2


def svr_objective(beta, K, target, epsilon):
    return target @ beta - epsilon * np.abs(beta).sum() - beta @ K @ beta / 2


def reference_coefficients(model, K, target):
    beta = np.zeros(len(target))
    model.fit(K, target)
    beta[model.support_] = model.dual_coef_[0]
    return beta


@needs_library
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
class TestAgainstLibsvm:
    """Same dual objective as scikit-learn's LIBSVM, from a feasible point; the coefficients need not be unique."""

    @pytest.mark.parametrize("seed", range(12))
    def test_svc(self, kernel, seed):
        rng = np.random.default_rng(seed)
        X, labels = classification_problem(rng, n=int(rng.integers(2, 60)))
        C = 10 ** rng.uniform(-2, 2)
        beta = train(X, labels, regression=False, kernel=kernel, C=C, **KERNEL_PARAMETERS)

        assert beta.dtype == np.float64 and beta.shape == labels.shape
        assert (beta * labels >= 0).all() and (np.abs(beta) <= C).all()
        assert abs(beta.sum()) <= 1e-12 * len(beta) * C
        K = gram(X, kernel)
        expected = svc_objective(reference_coefficients(SVC(kernel="precomputed", C=C, tol=1e-5), K, labels), K)
        assert svc_objective(beta, K) == pytest.approx(expected, rel=2e-3)

    @pytest.mark.parametrize("seed", range(12))
    def test_svr(self, kernel, seed):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 60))
        X = rng.normal(size=(n, 3))
        target = 5 + X[:, 0] + rng.normal(size=n)
        C, epsilon = 10 ** rng.uniform(-2, 2), 10 ** rng.uniform(-3, -0.5)
        beta = train(X, target, regression=True, kernel=kernel, C=C, epsilon=epsilon, **KERNEL_PARAMETERS)

        assert beta.dtype == np.float64 and beta.shape == target.shape
        assert (np.abs(beta) <= C).all()
        assert abs(beta.sum()) <= 1e-12 * n * C
        K = gram(X, kernel)
        model = SVR(kernel="precomputed", C=C, epsilon=epsilon, tol=1e-5)
        expected = svr_objective(reference_coefficients(model, K, target), K, target, epsilon)
        assert svr_objective(beta, K, target, epsilon) == pytest.approx(expected, rel=2e-3)


@needs_library
class TestCoefficients:
    @pytest.mark.parametrize("n", range(2, 9))
    def test_tiny_problems(self, n):
        """The library's working set is a power of two of rows; with two of three rows it used to stop far too early."""
        rng = np.random.default_rng(n)
        for _ in range(20):
            X, labels = classification_problem(rng, n)
            K = rbf_kernel(X, gamma=1.0)
            beta = train(X, labels, regression=False, kernel="rbf", C=30.0, tol=1e-5)
            expected = reference_coefficients(SVC(kernel="precomputed", C=30.0, tol=1e-6), K, labels)
            assert svc_objective(beta, K) == pytest.approx(svc_objective(expected, K), rel=1e-4)

    @pytest.mark.parametrize("first", [-1.0, 1.0])
    def test_sign_follows_the_label_and_not_the_order(self, first):
        X, labels = np.array([[0.0], [2.0]]), np.array([first, -first])
        beta = train(X, labels, regression=False, kernel="linear", C=10.0)
        # max 2a - 2a^2: a = 1/2, the separating line through x = 1 with margin 1
        np.testing.assert_allclose(beta, 0.5 * labels, rtol=1e-5)

    def test_row_order_does_not_matter(self):
        rng = np.random.default_rng(0)
        X, labels = classification_problem(rng, 40)
        K = rbf_kernel(X, gamma=1.0)
        beta = train(X, labels, regression=False, kernel="rbf", C=5.0, tol=1e-5)
        shuffled = rng.permutation(40)
        other = np.empty(40)
        other[shuffled] = train(X[shuffled], labels[shuffled], regression=False, kernel="rbf", C=5.0, tol=1e-5)
        np.testing.assert_allclose(K @ other, K @ beta, atol=1e-3)

    def test_swapped_labels_swap_the_signs(self):
        X, labels = classification_problem(np.random.default_rng(1), 40)
        K = rbf_kernel(X, gamma=1.0)
        beta = train(X, labels, regression=False, kernel="rbf", C=5.0, tol=1e-5)
        swapped = train(X, -labels, regression=False, kernel="rbf", C=5.0, tol=1e-5)
        np.testing.assert_allclose(K @ swapped, -K @ beta, atol=1e-3)

    def test_class_weights(self):
        rng = np.random.default_rng(2)
        X, labels = classification_problem(rng, 60)
        K = rbf_kernel(X, gamma=1.0)
        pair = 0.3, 7.0
        beta = train(X, labels, regression=False, kernel="rbf", C=pair, tol=1e-5)
        model = SVC(kernel="precomputed", C=1.0, class_weight={-1: pair[0], 1: pair[1]}, tol=1e-6)
        expected = reference_coefficients(model, K, labels)
        assert svc_objective(beta, K) == pytest.approx(svc_objective(expected, K), rel=1e-4)
        np.testing.assert_array_equal(beta.min(), -pair[0])
        assert 0.3 < beta.max() <= 7.0

    def test_no_free_support_vector_svc(self):
        """Balanced classes and a small C: every coefficient is at its bound, to the last bit."""
        X = np.random.default_rng(3).normal(size=(20, 2))
        labels = np.repeat([-1.0, 1.0], 10)
        beta = train(X, labels, regression=False, kernel="rbf", C=1e-3)
        np.testing.assert_array_equal(beta, 1e-3 * labels)

    def test_no_free_support_vector_svr(self):
        target = np.repeat([-7.0, 9.0], 10)
        X = np.random.default_rng(4).normal(size=(20, 2))
        beta = train(X, target, regression=True, kernel="rbf", C=0.1, epsilon=0.1)
        np.testing.assert_array_equal(beta, 0.1 * np.sign(target))

    @pytest.mark.parametrize("offset", [1e2, 1e4, 1e6])
    @pytest.mark.parametrize("kernel", ["linear", "rbf"])
    def test_offset_features_and_targets(self, kernel, offset):
        """Single precision would lose them; features and targets are centred before."""
        rng = np.random.default_rng(5)
        X = rng.normal(size=(50, 2))
        target = np.sin(2 * X[:, 0])
        K = gram(X, kernel)
        beta = train(X + offset, target + offset, regression=True, kernel=kernel, gamma=0.5, C=10.0, epsilon=0.01)
        model = SVR(kernel="precomputed", C=10.0, epsilon=0.01, tol=1e-5)
        expected = svr_objective(reference_coefficients(model, K, target), K, target, 0.01)
        assert svr_objective(beta, K, target, 0.01) == pytest.approx(expected, rel=1e-4)

    @pytest.mark.parametrize("scale", [1e-6, 1e6])
    @pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
    def test_scaled_features(self, kernel, scale):
        """Features of any size, with gamma and C to match, are the same problem."""
        X, labels = classification_problem(np.random.default_rng(6), 40)
        K = gram(X, kernel)
        power = 0.0 if kernel == "rbf" else -2.0
        factor = 1.0 if kernel == "poly" else scale**power
        parameters = KERNEL_PARAMETERS | {"gamma": 0.5 / scale**2}
        beta = train(X * scale, labels, regression=False, kernel=kernel, C=5.0 * factor, tol=1e-5, **parameters)
        expected = reference_coefficients(SVC(kernel="precomputed", C=5.0, tol=1e-6), K, labels)
        assert svc_objective(beta / factor, K) == pytest.approx(svc_objective(expected, K), rel=1e-4)

    @pytest.mark.parametrize("kernel", ["linear", "poly", "rbf"])
    @pytest.mark.parametrize("row", [0.0, 0.1])
    def test_equal_rows(self, kernel, row):
        labels = np.array([1.0, -1.0, 1.0, -1.0, -1.0])
        beta = train(np.full((5, 3), row), labels, regression=False, kernel=kernel, C=2.0)
        assert beta[labels > 0].tolist() == [2.0, 2.0]
        assert beta.sum() == pytest.approx(0, abs=1e-12)

    def test_integer_and_list_input(self):
        beta = train([[0], [2]], [-1, 1], regression=False, kernel="linear", C=10)
        np.testing.assert_allclose(beta, [-0.5, 0.5], rtol=1e-5)

    def test_input_is_left_alone(self):
        X, labels = classification_problem(np.random.default_rng(7), 30)
        before = X.copy(), labels.copy()
        train(X, labels, regression=False, kernel="rbf")
        train(X, labels, regression=True, kernel="rbf")
        np.testing.assert_array_equal(X, before[0])
        np.testing.assert_array_equal(labels, before[1])

    def test_several_cores_give_the_same_bits_and_leave_the_limit(self):
        rng = np.random.default_rng(8)
        X = rng.normal(size=(200, 3))
        library = _thundersvm._open(*_thundersvm._locate())
        library.omp_set_num_threads(3)
        one = train(X, X[:, 0], regression=True, kernel="rbf", n_cores=1)
        assert library.omp_get_max_threads() == 3
        two = train(X, X[:, 0], regression=True, kernel="rbf", n_cores=2)
        assert library.omp_get_max_threads() == 3
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("spread", [0.0, 0.1999])
def test_targets_within_the_tube_need_no_library(monkeypatch, spread):
    monkeypatch.setenv("EVOKE_THUNDERSVM_LIB", os.devnull)
    target = 3.0 + np.array([0.0, spread, 0.0])
    beta = train(np.eye(3), target, regression=True, kernel="rbf", epsilon=0.1)
    np.testing.assert_array_equal(beta, np.zeros(3))


class TestRefused:
    """Bad input is refused by name and value before the library is even looked for."""

    @pytest.fixture(autouse=True)
    def no_library(self, monkeypatch):
        monkeypatch.setenv("EVOKE_THUNDERSVM_LIB", os.devnull)

    X = np.arange(8.0).reshape(4, 2)
    labels = np.array([1.0, -1.0, 1.0, -1.0])

    def refuse(self, match, error=ValueError, X=X, target=labels, **parameters):
        with pytest.raises(error, match=match):
            train(X, target, **{"regression": False, "kernel": "rbf"} | parameters)

    @pytest.mark.parametrize("name", ["C", "gamma"])
    @pytest.mark.parametrize("value", [0, 0.0, -1.0, np.nan, np.inf, -np.inf])
    def test_positive(self, name, value):
        self.refuse(f"^{name} must be a positive finite number, got {value}$", **{name: value})

    @pytest.mark.parametrize("value", [(1.0, 0.0), (np.nan, 1.0), (np.inf, 1.0), (-2.0, 1.0)])
    def test_class_weights(self, value):
        self.refuse("^C must be a positive finite number, got (0.0|nan|inf|-2.0)$", C=value)

    @pytest.mark.parametrize("value", [(), (1.0,), (1.0, 2.0, 3.0)])
    def test_class_weights_of_wrong_length(self, value):
        self.refuse(r"^C must be a number or a pair \(C_negative, C_positive\), got \(", C=value)

    @pytest.mark.parametrize("value", [0.0, 9e-7, -1.0, np.nan, np.inf])
    def test_tol(self, value):
        self.refuse(f"^tol must be a finite number of at least 1e-06, got {value}$", tol=value)

    @pytest.mark.parametrize("value", [-1e-9, np.nan, np.inf])
    def test_epsilon(self, value):
        self.refuse(f"^epsilon must be a finite number of at least 0, got {value}$", epsilon=value, regression=True)

    @pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
    def test_coef0(self, value):
        self.refuse(f"^coef0 must be a finite number, got {value}$", coef0=value, kernel="poly")

    @pytest.mark.parametrize("name", ["max_iter", "n_cores", "degree"])
    @pytest.mark.parametrize("value", [0, -1])
    def test_counts(self, name, value):
        self.refuse(f"^{name} must be an integer of at least 1, got {value}$", **{name: value})

    def test_gpu_id(self):
        self.refuse("^gpu_id must be an integer of at least 0, got -1$", gpu_id=-1)

    @pytest.mark.parametrize("name", ["max_iter", "n_cores", "degree", "gpu_id"])
    def test_counts_are_whole(self, name):
        self.refuse(f"^{name} must be an integer of at least [01], got 1.5$", **{name: 1.5})

    @pytest.mark.parametrize("name", ["C", "gamma", "tol", "coef0", "epsilon"])
    def test_numbers_are_numbers(self, name):
        self.refuse(f"^{name} must be a .*, got None$", **{name: None})

    def test_class_weights_are_for_classes(self):
        self.refuse(r"^C must be a positive finite number, got \(1.0, 2.0\)$", C=(1.0, 2.0), regression=True)

    @pytest.mark.parametrize("value", ["sigmoid", "precomputed", None])
    def test_kernel(self, value):
        self.refuse(f"^kernel must be one of .*, got {value!r}$", kernel=value)

    @pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
    @pytest.mark.parametrize("regression", [False, True])
    def test_not_finite(self, value, regression):
        X, target = self.X.copy(), self.labels.copy()
        X[1, 1] = target[2] = value
        self.refuse("X", X=X, regression=regression)
        self.refuse("target", target=target, regression=regression)

    @pytest.mark.parametrize("value", [1e39, -1e39])
    def test_beyond_float32(self, value):
        X, target = self.X.copy(), self.labels.copy()
        X[1, 1] = target[2] = value
        self.refuse(f"X holds {value}".replace("+", r"\+"), X=X)
        self.refuse(f"target holds {value}".replace("+", r"\+"), target=target, regression=True)

    @pytest.mark.parametrize("label", [0.0, 0.5, 2.0, 1.0000001])
    def test_other_labels(self, label):
        self.refuse(f"target holds {label}", target=np.array([1.0, -1.0, label, -1.0]))

    @pytest.mark.parametrize("label", [-1.0, 1.0])
    def test_one_class(self, label):
        self.refuse(f"target holds only {label}", target=np.full(4, label))

    def test_one_row(self):
        self.refuse("minimum of 2", X=self.X[:1], target=self.labels[:1])

    @pytest.mark.parametrize("X", [np.zeros(4), np.zeros((4, 2, 1)), np.zeros((4, 0))])
    def test_shape_of_X(self, X):
        self.refuse("X|array|feature", X=X)

    @pytest.mark.parametrize("target", [labels[:3], labels[:, None], np.tile(labels, (4, 1))])
    def test_shape_of_target(self, target):
        self.refuse(r"^target must have shape \(4,\), got ", target=target)

    def test_what_single_precision_cannot_hold(self):
        """Good parameters that this library, unlike others, cannot work with."""
        X = 1e15 * self.X
        self.refuse("C=1e", ThunderSVMError, X=X, kernel="linear", C=1e30)
        self.refuse("C=1e-40", ThunderSVMError, C=1e-40)
        self.refuse("^C=", ThunderSVMError, C=(1e-30, 1e30))
        self.refuse("single precision", ThunderSVMError, gamma=1e9)
        self.refuse("^C=", ThunderSVMError, kernel="poly", degree=1000, gamma=10.0)


class TestProcess:
    """What the library would do to its process if it were let."""

    pytestmark = needs_library

    def test_threads_take_turns(self):
        result = run_python("""
            import threading
            import numpy as np
            from evoke.svm._thundersvm import train

            X = np.random.default_rng(0).normal(size=(60, 3))
            expected = train(X, X[:, 0], regression=True, kernel="rbf", C=10.0)
            right = []

            def work():
                right.append(all(
                    np.array_equal(train(X, X[:, 0], regression=True, kernel="rbf", C=10.0), expected)
                    for _ in range(100)
                ))

            threads = [threading.Thread(target=work) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert right == [True] * 4, right
        """)
        assert result.returncode == 0, result.stderr

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
    @pytest.mark.parametrize("n_cores", [1, 2])
    def test_fork_after_a_fit(self, n_cores):
        result = run_python(f"""
            import multiprocessing
            import numpy as np
            from evoke.svm._thundersvm import train

            X = np.random.default_rng(0).normal(size=(150, 3))

            def fit(_=None):
                return train(X, X[:, 0], regression=True, kernel="rbf", n_cores={n_cores})

            expected = fit()
            with multiprocessing.get_context("fork").Pool(2) as pool:
                for beta in pool.map_async(fit, range(4)).get(timeout=60):
                    np.testing.assert_array_equal(beta, expected)
            np.testing.assert_array_equal(fit(), expected)
        """)
        assert result.returncode == 0, result.stderr

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
    def test_fork_while_a_thread_is_fitting(self):
        result = run_python("""
            import os, signal, threading, warnings
            import numpy as np
            from evoke.svm._thundersvm import train

            warnings.simplefilter("ignore", DeprecationWarning)  # of Python itself: fork of a process with threads
            X = np.random.default_rng(0).normal(size=(150, 3))
            stop = threading.Event()

            def fit():
                return train(X, X[:, 0], regression=True, kernel="rbf", C=10.0)

            def work():
                while not stop.is_set():
                    fit()

            thread = threading.Thread(target=work, daemon=True)
            thread.start()
            for _ in range(10):
                pid = os.fork()
                if pid == 0:
                    signal.alarm(30)  # a child that hangs is killed, and has a status that is not 0
                    fit()
                    os._exit(0)
                assert os.waitpid(pid, 0)[1] == 0
            stop.set()
            thread.join()
        """)
        assert result.returncode == 0, result.stderr

    def test_silent_and_without_files(self, capfd, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        X, labels = classification_problem(np.random.default_rng(9), 30)
        train(X, labels, regression=False, kernel="rbf", C=(1.0, 2.0), n_cores=2)
        train(X, labels, regression=True, kernel="poly")
        assert capfd.readouterr() == ("", "")
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
    def test_memory_is_flat(self):
        result = run_python("""
            import os
            import numpy as np
            from evoke.svm._thundersvm import train

            X = np.random.default_rng(0).normal(size=(100, 5))
            labels = np.where(X[:, 0] > 0, 1.0, -1.0)

            def fits(n):
                for _ in range(n):
                    train(X, labels, regression=False, kernel="rbf", C=(1.0, 2.0))
                with open("/proc/self/statm") as file:
                    return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

            before = fits(200)
            print(fits(500) - before)
        """)
        assert result.returncode == 0, result.stderr
        assert int(result.stdout) < 2**20  # a model that is not freed costs 4 MB over 500 fits

    def test_package_of_the_library_is_not_imported(self):
        result = run_python("""
            import sys
            from evoke.svm._thundersvm import available, train
            assert available()
            train([[0.0], [1.0]], [-1.0, 1.0], regression=False, kernel="rbf")
            assert "thundersvm" not in sys.modules
        """)
        assert result.returncode == 0, result.stderr


class TestLibraryFile:
    """A library that is not there or not usable is named, with its variable."""

    def refused(self, monkeypatch, path, reason):
        monkeypatch.setenv("EVOKE_THUNDERSVM_LIB", str(path))
        assert not _thundersvm.available()
        info = _thundersvm.info()
        assert (info["available"], info["path"], info["source"]) == (False, str(path), "EVOKE_THUNDERSVM_LIB")
        with pytest.raises(ThunderSVMError) as error:
            train([[0.0], [1.0]], [-1.0, 1.0], regression=False, kernel="rbf")
        assert str(error.value) == info["error"]
        for part in "EVOKE_THUNDERSVM_LIB", str(path), reason:
            assert part in info["error"]

    def test_missing(self, monkeypatch, tmp_path):
        self.refused(monkeypatch, tmp_path / "none.so", "does not exist")

    def test_folder(self, monkeypatch, tmp_path):
        self.refused(monkeypatch, tmp_path, "not a file")

    @pytest.mark.skipif(sys.platform != "linux", reason="ELF")
    @pytest.mark.parametrize("content", [b"", b"\x7fELF", b"not a library\n" * 10])
    def test_not_elf(self, monkeypatch, tmp_path, content):
        path = tmp_path / "libthundersvm.so"
        path.write_bytes(content)
        self.refused(monkeypatch, path, "not an ELF file for this machine")

    @pytest.mark.skipif(sys.platform != "linux", reason="ELF")
    @pytest.mark.parametrize("where", [4, 5, 18])  # word size, byte order, machine
    def test_elf_for_another_machine(self, monkeypatch, tmp_path, where):
        path = tmp_path / "libthundersvm.so"
        with open(dispatch.__file__, "rb") as file:
            content = bytearray(file.read())
        content[where] ^= 3
        path.write_bytes(content)
        self.refused(monkeypatch, path, "not an ELF file for this machine")

    @pytest.mark.skipif(sys.platform != "linux", reason="ELF")
    def test_cut_off(self, monkeypatch, tmp_path):
        path = tmp_path / "libthundersvm.so"
        with open(dispatch.__file__, "rb") as file:
            path.write_bytes(file.read(200))
        self.refused(monkeypatch, path, "cannot use ThunderSVM")

    def test_another_library(self, monkeypatch):
        self.refused(monkeypatch, dispatch.__file__, "has no function model_new")

    def test_read_at_the_call_and_not_at_import(self, tmp_path):
        result = run_python(
            """
            import os
            from evoke.svm import _thundersvm
            assert not _thundersvm.available()
            del os.environ["EVOKE_THUNDERSVM_LIB"]
            assert _thundersvm.info()["source"] != "EVOKE_THUNDERSVM_LIB"
            """,
            EVOKE_THUNDERSVM_LIB=str(tmp_path / "none.so"),
        )
        assert result.returncode == 0, result.stderr

    def test_a_file_put_right_is_found(self, monkeypatch, tmp_path):
        good = _thundersvm.info()
        if not good["available"]:
            pytest.skip(good["error"])
        path = tmp_path / "libthundersvm.so"
        self.refused(monkeypatch, path, "does not exist")
        path.symlink_to(good["path"])
        assert _thundersvm.info() == {
            "available": True, "path": str(path), "error": None, "source": "EVOKE_THUNDERSVM_LIB",
        }  # fmt: skip

    def test_empty_variable_is_unset(self, monkeypatch):
        monkeypatch.delenv("EVOKE_THUNDERSVM_LIB", raising=False)
        expected = _thundersvm.info()
        monkeypatch.setenv("EVOKE_THUNDERSVM_LIB", "")
        assert _thundersvm.info() == expected

    def test_package_not_installed(self, monkeypatch):
        monkeypatch.delenv("EVOKE_THUNDERSVM_LIB", raising=False)
        monkeypatch.setattr(_thundersvm, "_PACKAGE", "no-such-distribution")
        _thundersvm._packaged_path.cache_clear()
        info = _thundersvm.info()
        _thundersvm._packaged_path.cache_clear()
        assert (info["available"], info["path"], info["source"]) == (False, None, None)
        assert "pip install" in info["error"] and "EVOKE_THUNDERSVM_LIB" in info["error"]
