"""What ``evoke certify`` and ``evoke check-certificate`` do."""

from __future__ import annotations

from pathlib import Path

import click

from evoke.cli.errors import print_text
from evoke.cli.paths import check_target

__all__ = ["certify_model", "check_file"]


def certify_model(model: Path, language: str, up_to: int, json_file: Path | None) -> None:
    """Print how far the strings of a language are certified; exit status 1 where it is not as far as asked."""
    from evoke.certification import certify
    from evoke.estimators import load
    from evoke.persistence.atomic import replacing

    if json_file is not None:
        check_target(json_file)
    certificate = certify(load(model), language, up_to)
    lines = [f"{language}: certified up to {certificate.up_to}" if certificate.up_to else f"{language}: not certified"]
    if not certificate.certified:
        lines.append(f"not up to {up_to}: {certificate.reason}")
    if certificate.up_to:
        lines += [f"least margin: {certificate.margin:.6g}", *certificate.in_words()]
    print_text("\n".join(lines) + "\n")
    if json_file is not None:
        with replacing(json_file) as file:
            file.write(certificate.to_json().encode())
    if not certificate.certified:
        raise click.exceptions.Exit(1)


def check_file(certificate: Path, model: Path) -> None:
    """Print what a certificate that holds says; exit status 1 where it does not hold."""
    from evoke.certification.checker import CertificateError, check, claim

    try:
        text = certificate.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise click.ClickException(f"{certificate} is no certificate: it is not text") from None
    try:
        up_to, margin = check(text, model)
    except CertificateError as error:
        raise click.ClickException(f"{certificate} does not hold for {model}: {error}") from None
    print_text(f"{claim(text)}: holds up to {up_to}, least margin {margin:.6g}\n")
