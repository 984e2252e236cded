"""Forecasts of one series by many random LSTM networks, in plain NumPy: what rolling origins are measured against.

Joined networks read their own output; ridge readouts are judged by free runs from rolling origins, for every
transformation of the series and every capacity; the forecast is a mean of the transformations' forecasts, weighted by
these errors, beside naive ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

N_MODELS = 10  # readouts; the forecast of a transformation is the median of their free runs
N_JOINED = 4  # networks that give their activations to one readout
N_CELLS = 8  # of a network
WEIGHT_RANGE = 1.0  # the largest; a cell's own is drawn between a thirtieth of it and itself
CAPACITIES = (1e-2, 1e-1, 1e0, 1e1, 1e2, 1e3, 1e5, 1e8, 1e11)  # ridge penalty: number of features / C
N_ORIGINS = 24  # rolling origins
SHARPNESS = 8  # weight of a candidate: (least error / its error) ** SHARPNESS
LIMIT = 0.5  # a free run is clipped this share of the range beyond the range of the transformed series
LEAVES = 2.0  # a candidate is not used whose rolling runs leave the range by this many ranges; forecasts are held there
QUARTER = 8  # changes in a quarter of a series, at least, if the range is to grow on
WINDOW = 0.25  # errors count at a step that are this share of the judged steps before or after it
HORIZON = 24  # of a series without a season, that free runs are judged over; else two seasons
ROWS = 12  # at least, to train on at the first origin


# ---------------------------------------------------------------- networks


def draw(rng, n_networks, n_inputs, n_steps):
    """Genomes (n_networks, 4 * N_CELLS, n_inputs + N_CELLS), gates [z | input | forget | output], the last input 1."""
    H = N_CELLS
    size = WEIGHT_RANGE * 10.0 ** rng.uniform(-1.5, 0.0, (n_networks, H, 1, 1))
    W = size * rng.uniform(-1.0, 1.0, (n_networks, H, 4, n_inputs + H))
    W[:, :, 2, n_inputs - 1] = np.log(max(2.0, n_steps)) * rng.uniform(0.0, 1.0, (n_networks, H)) ** 2
    return W.transpose(0, 2, 1, 3).reshape(n_networks, 4 * H, n_inputs + H).copy()


def sigma(v):
    return 1.0 / (1.0 + np.exp(-v))


def step(W, u, s, phi):
    """One step of the "lstm" cell: u (K, ..., I); s, phi (K, ..., H)."""
    H = s.shape[-1]
    x = np.concatenate([u, phi], -1).reshape(len(W), -1, W.shape[2])
    a = np.matmul(x, W.transpose(0, 2, 1)).reshape(*s.shape[:-1], 4 * H)
    s = sigma(a[..., H : 2 * H]) * np.tanh(a[..., :H]) + sigma(a[..., 2 * H : 3 * H]) * s
    return s, sigma(a[..., 3 * H :]) * np.tanh(s)


# ---------------------------------------------------------------- transformations


@dataclass(frozen=True)
class Transformation:
    """Perhaps a logarithm, then differences at some lags."""

    log: bool
    lags: tuple[int, ...]

    def level(self, y):
        return np.log(y) if self.log else np.asarray(y, float)

    def unlevel(self, x):
        return np.exp(np.clip(x, -700, 700)) if self.log else x

    @property
    def start(self):
        return sum(self.lags)

    def stages(self, y):
        stages = [self.level(y)]
        for lag in self.lags:
            w = np.full(len(y), np.nan)
            w[lag:] = stages[-1][lag:] - stages[-1][:-lag]
            stages.append(w)
        return stages

    def undo(self, y, origin, paths):
        """Values of y for paths (..., h) from `origin` on, given y before it."""
        for lag, before in zip(self.lags[::-1], self.stages(y)[-2::-1], strict=True):
            out = np.empty_like(paths)
            for t in range(paths.shape[-1]):
                out[..., t] = paths[..., t] + (out[..., t - lag] if t >= lag else before[origin - lag + t])
            paths = out
        return self.unlevel(paths)


def transformations(y, season, log):
    logs = [{"log": False}]
    if log == "positive" and (y > 0).all():
        logs.append({"log": True})
    differences = [(), (1,)] + ([(season,), (season, 1)] if season > 1 else [])
    return [Transformation(lags=d, **kind) for kind in logs for d in differences]


def lags_of(season):
    """Own values that the networks read, and that the readout reads beside their activations."""
    return ((1, season), (1, 2, 3, season, season + 1)) if season > 1 else ((1,), (1, 2, 3, 4, 5, 6, 7, 8))


# ---------------------------------------------------------------- free runs


def ridge(F, w, C):
    """Weights (M, n_C, P) and intercepts (M, n_C) of standardised features F (n, M, P) and targets w (n,)."""
    n, M, P = F.shape
    X = F.transpose(1, 0, 2)
    mean, centre = X.mean(1), w.mean()
    X, v = X - mean[:, None], np.broadcast_to((w - centre)[:, None], (M, n, 1))
    if n > 3 * P:
        R = np.linalg.qr(np.concatenate([X, v], -1), mode="r")
        X, v = R[:, :P, :P], R[:, :P, P:]
    U, S, Vt = np.linalg.svd(X, full_matrices=False)
    c = np.einsum("mnp,mn->mp", U, v[..., 0])
    weights = np.stack([np.einsum("mqp,mq->mp", Vt, c * S / (S * S + P / c_)) for c_ in C], 1)
    return weights, centre - np.einsum("mcp,mp->mc", weights, mean)


def free_runs(y, tr, W, nets, lags, origins, h):
    """Paths of y (n_models, n_origins, n_C, h) from each origin on, all from readouts trained on what was before."""
    T, K, H = len(y), len(W), N_CELLS
    M, G = K // N_JOINED, N_JOINED
    w = tr.stages(y)[-1]
    known = w[tr.start :]
    mean, deviation = known.mean(), known.std()
    if not deviation > 1e-12 * np.abs(known).max():
        deviation = 1.0
    w = np.nan_to_num((w - mean) / deviation, nan=0.0)
    L = max(*nets, *lags)
    values = np.r_[np.zeros(L), w]  # values[L + t] is w(t)

    s = phi = np.zeros((K, H))
    states = np.empty((2, T + 1, K, H))
    for t in range(T + 1):
        u = np.r_[[values[L + t - lag] for lag in nets], 1.0]
        states[:, t] = s, phi = step(W, np.broadcast_to(u, (K, len(u))), s, phi)
    own = np.stack([values[L - lag : L - lag + T + 1] for lag in lags], 1)
    F = np.concatenate([states[1].reshape(T + 1, M, G * H), np.repeat(own[:, None], M, 1)], -1)
    first = min(tr.start + max(lag for lag in (1, *lags) if lag != nets[-1] or lag == 1), origins[0] - ROWS)
    centre, spread = F[first:T].mean(0), F[first:T].std(0)
    spread = np.where(spread > 1e-9, spread, 1.0)
    F = (F - centre) / spread

    C, R = len(CAPACITIES), len(origins)
    fits = [ridge(F[first:o], w[first:o], CAPACITIES) for o in origins]
    beta, bias = (np.stack([fit[k] for fit in fits], 1) for k in (0, 1))

    low, high = w[tr.start :].min(), w[tr.start :].max()
    low, high = low - LIMIT * (high - low), high + LIMIT * (high - low)
    known = np.stack([values[o : o + L] for o in origins])[None, :, None]
    run = np.concatenate([np.broadcast_to(known, (M, R, C, L)), np.empty((M, R, C, h))], -1)
    s, phi = (np.broadcast_to(x[origins].transpose(1, 0, 2)[:, :, None], (K, R, C, H)) for x in states)
    for t in range(h):
        if t:
            u = np.stack([run[..., L + t - lag] for lag in nets] + [np.ones((M, R, C))], -1)
            s, phi = step(W, np.repeat(u, G, 0), s, phi)
        f = phi.reshape(M, G, R, C, H).transpose(0, 2, 3, 1, 4).reshape(M, R, C, G * H)
        f = np.concatenate([f, *(run[..., L + t - lag, None] for lag in lags)], -1)
        f = (f - centre[:, None, None]) / spread[:, None, None]
        run[..., L + t] = np.clip((f * beta).sum(-1) + bias, low, high)
    paths = run[..., L:] * deviation + mean
    return np.stack([tr.undo(y, o, paths[:, r]) for r, o in enumerate(origins)], 1)


# ---------------------------------------------------------------- the model


class Recipe:
    """fit(y, season, seed), then forecast(h, level)."""

    def __init__(self, log="positive"):
        self.log = log

    def fit(self, y, season=1, seed=0):
        y = self.y = np.asarray(y, float)
        self.season, T = season, len(y)
        hj = self.n_judged = max(1, min(2 * season if season > 1 else HORIZON, T // 4))
        begin = max(T // 2, T - hj - N_ORIGINS * max(1, hj // 2))
        self.origins = sorted(set(np.linspace(begin, T - hj, N_ORIGINS).astype(int).tolist()))
        self.truth = np.stack([y[o : o + hj] for o in self.origins])
        self.nets, self.lags = lags_of(season)
        self.W = draw(np.random.default_rng(seed), N_MODELS * N_JOINED, len(self.nets) + 1, T)
        self.used = [
            tr for tr in transformations(y, season, self.log) if self.origins[0] - tr.start >= max(20, season)
        ]
        self._run(hj)
        return self

    def _candidates(self, h):
        """Forecasts (n_C, n_origins + 1, h) of each transformation and naive method, from the origins and the end."""
        y, ends = self.y, [*self.origins, len(self.y)]
        for tr in self.used:
            runs = free_runs(y, tr, self.W, self.nets, self.lags, ends, h)
            yield np.median(runs, axis=0).transpose(1, 0, 2)
        yield np.stack([np.full(h, y[o - 1]) for o in ends])[None]
        yield np.stack([np.full(h, y[:o].mean()) for o in ends])[None]
        if self.season > 1:
            yield np.stack([np.resize(y[o - self.season : o], h) for o in ends])[None]

    def _run(self, h):
        hj, span = self.n_judged, np.ptp(self.y)
        low, high = self.y.min() - LEAVES * span, self.y.max() + LEAVES * span
        more = LEAVES * span * (self._grown(np.arange(1, h + 1)) - 1)
        paths = list(self._candidates(h))
        each = [np.abs(p[:, :-1, :hj] - self.truth) for p in paths]  # (n_C, n_origins, hj)
        errors = [e.mean(1) for e in each]
        inside = [(low <= p) & (p <= high) for p in paths]
        # A candidate is used only if its rolling runs have always been inside; its own run is held there.
        sound = [i[:, :-1, :hj].all((1, 2)) for i in inside]
        own = [np.clip(p[:, -1], low - more, high + more) for p in paths]
        beyond = [np.minimum(np.abs(p[:, -1] - o), LEAVES * span + more) for p, o in zip(paths, own, strict=True)]
        self.weights = np.zeros((len(paths), h))
        self.point, self.held, self.rolling = np.zeros(h), np.zeros(h), np.zeros((len(self.origins), hj))
        for t in range(h):
            centre, reach = min(t, hj - 1), int(hj * WINDOW)
            e = [x[:, max(0, centre - reach) : centre + reach + 1].mean(1) for x in errors]
            e = [np.where(s, x, np.inf) for x, s in zip(e, sound, strict=True)]
            best = [int(np.argmin(x)) for x in e]
            least = np.array([x[c] for x, c in zip(e, best, strict=True)])
            weights = ((least.min() + 1e-300) / (least + 1e-300)) ** SHARPNESS
            weights /= weights.sum()
            used = np.flatnonzero(weights)
            self.weights[:, t] = weights
            self.point[t] = sum(weights[k] * own[k][best[k], t] for k in used)
            self.held[t] = sum(weights[k] * beyond[k][best[k], t] for k in used)
        for r in range(len(self.origins)):
            self.rolling[r] = self._left_out(r, each, sound, paths)

    def _left_out(self, r, each, sound, paths):
        """The forecast (hj,) from an origin, weighted by errors from the far ones: at least half of all."""
        hj, result = self.n_judged, np.zeros(self.n_judged)
        apart = np.abs(np.array(self.origins) - self.origins[r])
        far = apart >= min(hj, sorted(apart)[len(apart) // 2])
        for t in range(hj):
            reach = int(hj * WINDOW)
            e = [x[:, far, max(0, t - reach) : t + reach + 1].mean((1, 2)) for x in each]
            e = [np.where(s, x, np.inf) for x, s in zip(e, sound, strict=True)]
            least = np.array([x.min() for x in e])
            weights = ((least.min() + 1e-300) / (least + 1e-300)) ** SHARPNESS
            for k in np.flatnonzero(weights):
                result[t] += weights[k] / weights.sum() * paths[k][int(np.argmin(e[k])), r, t]
        return result

    def forecast(self, h, level=None):
        """Values (h,), or with a level (values, lower, upper)."""
        if h > len(self.point):
            self._run(h)
        point = self.point[:h]
        if level is None:
            return point
        half = self.half_widths(h, level)
        return point, point - half, point + half

    def _times_as_lively(self, origin):
        """How many times as much the series changes as it did before an origin."""
        lag = self.season if origin > self.season else 1
        change = np.abs(self.y[lag:] - self.y[:-lag])
        times = min(4.0, change.mean() / change[: origin - lag].mean())
        grown = self._grown(len(self.y) - origin)
        return max(times, grown) if grown > 1.0 else times

    def _grown(self, steps):
        """The factor by which the range grows in so many steps, if the series changes ever more."""
        m = self.season if len(self.y) > 5 * self.season else 1
        change = np.abs(self.y[m:] - self.y[:-m])
        each = len(change) // 4
        if each < QUARTER:
            return np.ones(np.shape(steps))
        size = np.array([change[len(change) - k * each :][:each].mean() for k in (4, 3, 2, 1)])
        times = max(1.0, min(size[1:] / size[:-1]))
        return times ** (np.minimum(steps, len(self.y)) / each)

    def half_widths(self, h, level):
        """Half the width of the interval at each step, from the errors of the forecasts from the rolling origins."""
        hj, T = self.n_judged, len(self.y)
        e = (self.rolling - self.truth) * np.array([self._times_as_lively(o) for o in self.origins])[:, None]
        scale = np.maximum(isotonic(np.sqrt((e**2).mean(0))), 1e-300)
        ratio = e / scale
        correlation = [(ratio[:, k:] * ratio[:, : hj - k]).mean() / (ratio**2).mean() for k in range(hj)]
        worth = hj / (1 + 2 * sum((1 - k / hj) * correlation[k] ** 2 for k in range(1, hj)))
        n = max(1.0, (T - T // 2) / hj * worth)  # independent errors, of stretches that do not overlap
        step = np.arange(h)
        beyond = np.sqrt(np.maximum((step + 1) / hj, 1.0))  # past what was judged: as of a random walk
        beyond *= self._grown(np.maximum(step + 1, hj)) / self._grown(hj)
        p = 0.5 + level / 2
        widen = stats.t.ppf(p, max(1.5, n / 2)) / stats.norm.ppf(p)  # a quantile says half as much as a deviation
        return widen * np.quantile(np.abs(ratio), level) * scale[np.minimum(step, hj - 1)] * beyond + self.held[:h]


def isotonic(v):
    """The closest ascending sequence (pool adjacent violators)."""
    blocks = []
    for x in v:
        blocks.append((x, 1))
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (b, m), (a, n) = blocks.pop(), blocks.pop()
            blocks.append(((a * n + b * m) / (n + m), n + m))
    return np.concatenate([np.full(n, x) for x, n in blocks])
