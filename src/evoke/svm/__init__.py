"""Support vector machines on small dense problems, in double precision, trained by the native solver or ThunderSVM."""

from __future__ import annotations

from evoke._core.kernel import Kernel
from evoke.svm._landmark_lssvm import LandmarkLSSVC, LandmarkLSSVR
from evoke.svm._landmark_svc import LandmarkSVC
from evoke.svm._lssvm import LSSVC, LSSVR
from evoke.svm._solve import Solution, solve
from evoke.svm._svc import SVC
from evoke.svm._svr import SVR

__all__ = [
    "LSSVC", "LSSVR", "SVC", "SVR", "Kernel", "LandmarkLSSVC", "LandmarkLSSVR", "LandmarkSVC", "Solution", "solve",
]  # fmt: skip
