"""Local clusters for the backends of joblib."""

from __future__ import annotations

import contextlib
import os


@contextlib.contextmanager
def dask(n_workers: int = 2):
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster):
        yield


@contextlib.contextmanager
def ray(n_workers: int = 2):
    os.environ.update(RAY_USAGE_STATS_ENABLED="0", RAY_AUTH_MODE="disabled")
    import ray
    from ray.util.joblib import register_ray

    ray.init("local", num_cpus=n_workers, include_dashboard=False, log_to_driver=False, configure_logging=False)
    register_ray()
    yield
    ray.shutdown()


# For each backend the cluster that it needs, of two workers or as many as it is given, and the package.
BACKENDS = {
    "threading": (contextlib.nullcontext, "joblib"),
    "loky": (contextlib.nullcontext, "joblib"),
    "dask": (dask, "distributed"),
    "ray": (ray, "ray"),
}
