"""The check of certificates: it shares no code, and sees what is wrong."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from evoke import certify, load
from evoke.certification import checker
from evoke.certification.checker import CertificateError, check, claim
from evoke.cli import cli
from helpers.weights import changed


@pytest.fixture(scope="module")
def pair(models, tmp_path_factory):
    path = tmp_path_factory.mktemp("certificate") / "model.evk"
    models[2].save(path)
    return certify(models[2], "anbncn").to_json(), path


def test_it_imports_the_standard_library_alone():
    own, modules = checker.__name__, set()
    files = {path.stem: path.read_text() for path in Path(checker.__file__).parent.glob("*.py")}
    assert len(files) > 1
    for node in (node for text in files.values() for node in ast.walk(ast.parse(text))):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            modules.add(node.module)
    assert modules <= {"__future__", *sys.stdlib_module_names, *(f"{own}.{name}" for name in files)}


def first_loop(facts):
    return facts["cases"][0]["loops"][0][0]


def widen(facts, phase, by):
    for cell in facts["cases"][0]["loops"][phase][0]["cells"]:
        cell["low"], cell["high"] = cell["low"] - by, cell["high"] + by


SPOILS = {
    "a margin that is too wide for the invariant": lambda facts: widen(facts, 1, 5.0),
    "a narrower state": lambda facts: widen(facts, 0, -0.5),
    "another step": lambda facts: [cell.update(step=cell["step"] + 0.5) for cell in first_loop(facts)["cells"]],
    "another slope": lambda facts: [cell.update(slopes=[1.0]) for cell in first_loop(facts)["cells"]],
    "a drift with the wrong sign": lambda facts: [cell.update(drift=[1.0, 2.0]) for cell in first_loop(facts)["cells"]],
    "no cells": lambda facts: first_loop(facts).update(cells=[]),
    "no loops": lambda facts: facts["cases"][0].update(loops=[[], [], []]),
    "no cases": lambda facts: facts.update(cases=[]),
    "a loop elsewhere": lambda facts: first_loop(facts).update(at=10**6),
    "activations of nothing": lambda facts: first_loop(facts).update(phi=[[0.5, 0.5]] * 5),
    "another format": lambda facts: facts.update(format=2),
    "another count": lambda facts: facts["phases"][2].update(count=[2]),
    "other legal symbols": lambda facts: facts["phases"][0].update(within=[[0]]),
    "another language": lambda facts: facts.update(language="anbn"),
    "nothing certified": lambda facts: facts.update(up_to=0),
    "a part is missing": lambda facts: facts.pop("period"),
    "text for a number": lambda facts: facts.update(threshold="12"),
    "other strings by another name": lambda facts: (facts.update(language="own"), facts["phases"][2].update(count=[2])),
}


@pytest.mark.parametrize("spoil", SPOILS)
def test_what_does_not_hold_is_seen(pair, spoil):
    text, path = pair
    assert check(text, path)[0] == 2**52
    facts = json.loads(text)
    SPOILS[spoil](facts)
    with pytest.raises(CertificateError):
        check(json.dumps(facts), path)


def test_a_certificate_of_another_model(pair, models, tmp_path):
    text, _ = pair
    other = tmp_path / "other.evk"
    changed(models[2], models[2].genome_ * 0.01).save(other)
    with pytest.raises(CertificateError):
        check(text, other)
    with pytest.raises(CertificateError):
        check("{", other)
    with pytest.raises(CertificateError):
        check(text, __file__)


def test_commands(pair, tmp_path):
    _, model = pair
    file = tmp_path / "certificate.json"

    def evoke(*arguments):
        return subprocess.run([sys.executable, "-m", "evoke", *map(str, arguments)], capture_output=True, text=True)

    done = evoke("certify", model, "--language", "anbncn", "--json", file)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("anbncn: certified up to 4503599627370496\n")
    done = evoke("check-certificate", file, model)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("anbncn: 1^n 2^n 3^n: holds up to 4503599627370496")
    done = evoke("certify", model, "--language", "anbncn", "--json", tmp_path / "none" / "a.json")
    assert (done.returncode, done.stdout) == (1, "")
    assert "none" in done.stderr
    done = evoke("check-certificate", model, file)
    assert done.returncode == 1
    assert done.stderr == f"Error: {model} is no certificate: it is not text\n"
    file.write_text(file.read_text().replace('"language": "anbncn"', '"language": "anbn"'))
    done = evoke("check-certificate", file, model)
    assert done.returncode == 1
    assert "does not hold" in done.stderr
    assert done.stderr.count("\n") == 1


def test_not_certified_is_a_status_and_no_error(pair, tmp_path):
    _, model = pair
    whole = load(model)
    cut = changed(whole, 1e-3 * whole.genome_)
    cut.save(tmp_path / "cut.evk")
    found = CliRunner().invoke(cli, ["certify", str(tmp_path / "cut.evk"), "--language", "anbncn"])
    assert found.exit_code == 1
    assert found.output.startswith("anbncn: not certified\nnot up to 4503599627370496: ")
    assert "Error" not in found.output


def test_strings_of_ones_own_say_what_is_right(pair):
    certificate, path = pair
    facts = json.loads(certificate)
    own = json.dumps(facts | {"language": "mine"})
    assert check(own, path)[0] == 2**52
    assert claim(own) == ("mine: 1^n 2^n 3^n; after 0: 0; in phase 1 after 1: 0 1; at its end: 0 1; in phase 2 after "
                          "2: 1; at its end: 2; in phase 3 after 3: 2; at its end: 3")  # fmt: skip
    for name in (None, 3, "", "a\x1b[31m", "a" * 201):
        with pytest.raises(CertificateError, match="the strings have no name"):
            check(json.dumps(facts | {"language": name}), path)
    for text in ("[]", "3", "{}"):
        with pytest.raises(CertificateError, match=r"no object of JSON|the format of the certificate is not known"):
            check(text, path)
