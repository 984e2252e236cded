"""With --no-skips, which `make realdata` gives, a test that is skipped fails."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FILES = {
    "test_alone": "import pytest\ndef test_one(): pytest.importorskip('no_such_package')\n",
    "test_module": "import pytest\npytest.importorskip('no_such_package')\ndef test_one(): pass\n",
    "test_marked": "import pytest\n@pytest.mark.skip(reason='because')\ndef test_one(): pass\n",
    "test_expected": "import pytest\n@pytest.mark.xfail\ndef test_one(): assert False\n",
}


@pytest.mark.parametrize(
    "name, option, status, said",
    [
        ("test_alone", [], 0, "1 skipped"),
        ("test_alone", ["--no-skips"], 1, "no_such_package"),
        ("test_module", ["--no-skips"], 2, "no_such_package"),
        ("test_marked", ["--no-skips"], 1, "because"),
        ("test_expected", ["--no-skips"], 0, "1 xfailed"),
    ],
)
def test_a_skip_is_a_failure(name, option, status, said, tmp_path):
    (tmp_path / f"{name}.py").write_text(FILES[name])
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "conftest", "-p", "no:cacheprovider", *option, f"{name}.py"],
        cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == status, done.stdout + done.stderr
    assert said in done.stdout
