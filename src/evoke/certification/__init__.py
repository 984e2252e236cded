"""Machine-made proofs that a network accepts every string of a language, and their independent check."""

from evoke.certification.certificate import Certificate, certify
from evoke.certification.families import FAMILIES, LANGUAGES, Family, Phase
from evoke.certification.simplification import Simplified, Size, simplify
from evoke.certification.stop import CertifiedStop

__all__ = [
    "FAMILIES", "LANGUAGES", "Certificate", "CertifiedStop", "Family", "Phase", "Simplified", "Size", "certify",
    "simplify",
]  # fmt: skip
