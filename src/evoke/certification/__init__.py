"""Machine-made proofs that a network accepts every string of a family, and their independent check."""

from evoke.certification.certificate import Certificate, certify
from evoke.certification.families import FAMILIES, Family, Phase

__all__ = ["FAMILIES", "Certificate", "Family", "Phase", "certify"]
