"""Profiles of hypothesis: `ci` repeats exactly; HYPOTHESIS_PROFILE=deep searches longer and at random.

Figures are drawn without a screen and closed after each test.
"""

import os
import signal
import subprocess
import sys

import pytest
from hypothesis import settings

# A job in the background has Ctrl-C ignored, and its children inherit that: the tests of interrupts would wait in vain.
signal.signal(signal.SIGINT, signal.default_int_handler)

os.environ["MPLBACKEND"] = "Agg"

settings.register_profile("ci", derandomize=True, deadline=None, database=None)
settings.register_profile("deep", max_examples=2000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def pytest_addoption(parser):
    parser.addoption("--no-skips", action="store_true", help="a skip is a failure: what tests need must be there")


def failed_if_skipped(report, config):
    if config.getoption("--no-skips") and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome, report.longrepr = "failed", f"--no-skips: {report.longrepr[2]}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    return failed_if_skipped((yield), item.config)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    return failed_if_skipped((yield), collector.config)


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture
def here(capsys):
    """The command inside this process, where parts of it can be replaced."""

    from evoke.cli import cli

    def run(*arguments):
        with pytest.raises(SystemExit) as ended:
            cli.main([*map(str, arguments)], prog_name="evoke")
        return subprocess.CompletedProcess(arguments, ended.value.code, *capsys.readouterr())

    return run
