"use strict";
/* A fitted forecaster with rolling origins, which goes on after the series of `fit`. `plan` has its numbers; the names are
 * those of evoke.export.rolling_plan. A chromosome is [z | input | forget | output] x [inputs, cells]. */
function evokeModel(plan) {
  const cells = plan.n_cells, inputs = plan.n_inputs, joined = plan.n_joined;
  const logistic = (x) => 1 / (1 + Math.exp(-x));
  const clipped = (x, low, high) => (x > high ? high : x < low ? low : x); // what is no number stays none
  let runs, t;

  /* After the series of fit; nothing has to be fed back. */
  function resume() {
    t = 0;
    runs = plan.members.flatMap((member) => member.weights.map((weights, run) => ({
      member, weights, readouts: member.machines.map((machines, m) => ({
        machine: machines[run], scale: member.features[m], last: member.before.slice(),
        stages: member.stages.map((stage) => stage.slice()),
        networks: member.states.slice(m * joined, (m + 1) * joined).map(([s, phi], g) => (
          { s: s.slice(), phi: phi.slice(), genome: plan.genomes[m * joined + g] })),
      })),
    })));
    return [];
  }

  /* A step of one network. */
  function follow(network, given) {
    const source = [...given, ...network.phi], width = inputs + cells, s = network.s, lstm = plan.cell === "lstm";
    network.phi = network.genome.map((weights, h) => {
      const net = [0, 0, 0, 0];
      for (let gate = 0; gate < 4; gate++)
        for (let k = 0; k < width; k++) net[gate] += weights[gate * width + k] * source[k];
      s[h] = logistic(net[2]) * s[h] + logistic(net[1]) * (lstm ? Math.tanh(net[0]) : net[0]);
      return lstm ? logistic(net[3]) * Math.tanh(s[h]) : Math.tanh(logistic(net[3]) * s[h]);
    });
    return network.phi;
  }

  function say({ kernel, gamma, vectors, coef, intercept }, row) {
    const values = intercept.slice();
    const add = (factor, weights) => weights.forEach((weight, o) => { values[o] += factor * weight; });
    if (kernel === "linear") row.forEach((value, k) => add(value, coef[k]));
    else plan.vectors[vectors].forEach((vector, j) => {
      let sum = 0;
      for (let k = 0; k < row.length; k++) sum += (row[k] - vector[k]) ** 2;
      add(Math.exp(-gamma * sum), coef[j]);
    });
    return values;
  }

  /* A step of one readout of a run: the value of the series that it expects. */
  function read(member, readout, external) {
    const before = (lag) => readout.last[readout.last.length - lag];
    const given = [...plan.lags.flatMap(before), ...external, 1];
    let row = [...readout.networks.flatMap((network) => follow(network, given)), ...plan.readout_lags.flatMap(before), ...external];
    if (readout.scale) row = row.map((value, k) => (value - readout.scale.mean[k]) * readout.scale.inverse[k]);
    const now = say(readout.machine, row).map((value, o) => clipped(
      readout.scale ? value + before(1)[o] : value, member.low[o], member.high[o]));
    readout.last.push(now);
    readout.last.shift();
    let level = now.map((value, o) => value * member.deviation[o] + member.mean[o]);
    for (let k = readout.stages.length - 1; k >= 0; k--) { // differences are undone, the last one first
      const stage = readout.stages[k], earlier = stage.shift();
      level = level.map((value, o) => value + earlier[o]);
      stage.push(level);
    }
    return member.log ? level.map(Math.exp) : level;
  }

  function median(values) {
    const sorted = values.slice().sort((a, b) => a - b), half = sorted.length >> 1;
    if (sorted.some(Number.isNaN)) return NaN;
    return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  }

  /* The next forecast, beside the external inputs that x begins with. */
  function step(x) {
    const external = x.slice(0, plan.n_features).map((value, k) => (value - plan.inputs.mean[k]) * plan.inputs.inverse[k]);
    const at = Math.min(t, plan.naive[0].length - 1), said = runs.map(({ member, weights, readouts }) => {
      const each = readouts.map((readout) => read(member, readout, external));
      return [weights[at], each[0].map((_, o) => median(each.map((values) => values[o])))];
    });
    said.push([plan.naive[0][at], plan.last], [plan.naive[1][at], plan.mean]);
    if (plan.season.length) said.push([plan.naive[2][at], plan.season[t % plan.season.length]]);
    t += 1;
    return plan.last.map((_, o) => {
      const rise = Math.min(Math.min(t, plan.n_known) * plan.rate[o], plan.most_growth);
      const far = plan.leaves * (plan.high[o] - plan.low[o]) * Math.exp(rise);
      let total = 0, least = Infinity, largest = -Infinity;
      for (const [weights, values] of said) {
        if (!(weights[o] > 0)) continue;
        const held = clipped(values[o], plan.low[o] - far, plan.high[o] + far);
        total += weights[o] * held;
        least = Math.min(least, held);
        largest = Math.max(largest, held);
      }
      return clipped(total, least, largest) * plan.factors[0][o] * plan.factors[1][o];
    });
  }

  /* The largest difference from what the model said in Python. */
  function difference(given, expected) {
    let largest = 0;
    resume();
    given.forEach((x, k) => step(x).forEach((value, o) => {
      const size = Math.abs(value - expected[k][o]);
      if (!(size <= largest)) largest = size;
    }));
    resume();
    return largest;
  }

  resume();
  return { reset: resume, resume, step, label: () => null, difference,
    cells: () => (runs.length ? runs[0].readouts[0].networks[0].phi.slice() : []) };
}
