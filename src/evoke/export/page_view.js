/* The page of a model: an example that can be edited or drawn, and what the model says of it. */
(function () {
  const page = JSON.parse(document.getElementById("page").textContent), plan = page.plan, model = evokeModel(plan);
  const COLORS = ["#2a6fb0", "#d1622b", "#3c9a5f", "#a04fb5", "#b59a1d", "#c23b5a", "#4aa5a5", "#7a7f8a"];
  const MOST_STEPS = 5000, MOST_LINES = 24, H = 170, LEFT = 56;
  const forecasts = plan.feedback_scale !== null, names = page.names, $ = (id) => document.getElementById(id);
  const short = (x) => String(Number(x.toPrecision(6)));
  let rows = page.example;

  function make(tag, attributes, text) {
    const svg = ["svg", "path", "line", "text"].includes(tag);
    const node = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
    if (text !== undefined) node.textContent = text;
    return node;
  }

  /* Lines over the steps; `series` is a row of numbers a line. */
  function chart(place, series, titles, logarithmic) {
    const shown = series.slice(0, MOST_LINES), scale = logarithmic ? (y) => Math.log10(Math.max(y, 1e-300)) : (y) => y;
    const all = shown.flat().filter(Number.isFinite).map(scale);
    let low = 0, high = 1;
    if (all.length) {
      low = all.reduce((a, b) => Math.min(a, b));
      high = all.reduce((a, b) => Math.max(a, b));
    }
    if (high - low < 1e-12) { low -= 1; high += 1; }
    const n = Math.max(2, ...shown.map((line) => line.length)), W = Math.max(280, place.clientWidth || 900);
    const X = (t) => LEFT + (W - LEFT - 8) * t / (n - 1), Y = (y) => 10 + (H - 34) * (high - scale(y)) / (high - low);
    const svg = make("svg", { viewBox: `0 0 ${W} ${H}`, role: "img" });
    const digits = 2 - Math.floor(Math.log10(high - low));
    const back = (y) => logarithmic ? (10 ** y).toExponential(1) : digits > 6 || digits < -2 ? y.toExponential(1)
      : (Number(y.toFixed(Math.max(0, digits))) + 0).toFixed(Math.max(0, digits)); // no -0
    for (const y of [low, (low + high) / 2, high]) {
      const height = 10 + (H - 34) * (high - y) / (high - low);
      svg.append(make("line", { class: "axis", x1: LEFT, x2: W - 8, y1: height, y2: height }));
      svg.append(make("text", { x: LEFT - 6, y: height + 4, "text-anchor": "end" }, back(y)));
    }
    svg.append(make("text", { x: LEFT, y: H - 6 }, "1"), make("text", { x: W - 8, y: H - 6, "text-anchor": "end" }, String(n)));
    shown.forEach((line, k) => {
      let d = "";
      line.forEach((y, t) => { if (Number.isFinite(y)) d += `${d ? "L" : "M"}${X(t).toFixed(1)} ${Y(y).toFixed(1)}`; });
      if (line.length === 1) d += "h4";
      svg.append(make("path", { d, stroke: COLORS[k % COLORS.length] }));
    });
    const legend = make("p", { class: "legend soft" });
    if (titles) shown.forEach((_, k) => {
      const entry = make("span"), color = make("i");
      color.style.background = COLORS[k % COLORS.length];
      entry.append(color, titles[k]);
      legend.append(entry);
    });
    if (series.length > MOST_LINES) legend.append(`and ${series.length - MOST_LINES} more`);
    place.replaceChildren(svg, legend);
    return {
      svg,
      step: (x) => Math.round((x * W - LEFT) / (W - LEFT - 8) * (n - 1)), // of parts of the picture
      value: (y) => high - (y * H - 10) / (H - 34) * (high - low),
    };
  }

  const columns = (table) => (table.length ? table[0].map((_, k) => table.map((row) => row[k])) : []);

  function words(label) {
    if (label === null) return null;
    if (!Array.isArray(label)) return String(label);
    const yes = page.outputs.filter((_, k) => label[k]);
    return yes.length ? yes.join(" ") : "none";
  }

  function run() {
    const phi = [], values = [], said = [];
    const last = forecasts ? model.resume() : (model.reset(), null);
    let fed = last;
    for (const x of rows) {
      const found = model.step(forecasts ? [...x, ...fed] : x);
      if (!found.every(Number.isFinite)) throw new Error(`step ${values.length + 1}: the numbers are too large for this page`);
      fed = found;
      phi.push(model.cells());
      values.push(found);
      said.push(words(model.label(found)));
    }
    chart($("cells").querySelector("div"), columns(phi), phi.length ? phi[0].map((_, h) => `cell ${h + 1}`) : []);
    chart($("values").querySelector("div"), columns(values), page.outputs);
    const end = values.length - 1, what = plan.per_sequence ? "The sequence: " : "After the last step: ";
    $("say").textContent = end < 0 ? "" : what + (said[end] === null ? values[end].map(short).join(", ") : said[end]);
    $("labels").replaceChildren(...(said.some((each) => each !== null) && said.length <= 500
      ? said.map((each, t) => make("span", { title: `step ${t + 1}` }, each)) : []));
    inputs();
    if (!$("history").hidden) chart($("history").querySelector("div"), [page.fitness], null, page.fitness.some((value) => value > 0));
  }

  let column = 0;
  function inputs() {
    const place = $("draw");
    place.hidden = !plan.n_features || !rows.length;
    if (place.hidden) return;
    const drawn = chart(place.querySelector("div"), columns(rows), page.symbols || names);
    if (page.symbols) return;
    const paint = (event) => {
      if (event.type === "pointermove" && !event.buttons) return;
      const box = drawn.svg.getBoundingClientRect();
      const t = drawn.step((event.clientX - box.left) / box.width), y = drawn.value((event.clientY - box.top) / box.height);
      if (!rows[t]) return;
      rows[t] = rows[t].map((value, k) => (k === column ? Number(y.toPrecision(4)) : value));
      show();
      run();
    };
    drawn.svg.addEventListener("pointerdown", paint);
    place.onpointermove = (event) => { if (event.target.closest("svg")) paint(event); };
  }

  const box = page.symbols ? make("input", { size: 60, "aria-label": "symbols" }) : make("textarea", { "aria-label": "steps", spellcheck: "false" });
  const number = make("input", { type: "number", min: 1, max: MOST_STEPS, value: page.example.length, "aria-label": "steps" });

  function show() {
    if (page.symbols) box.value = rows.map((row) => page.symbols[row.indexOf(Math.max(...row))]).join("");
    else box.value = rows.map((row) => row.map(short).join(" ")).join("\n");
  }

  function given() {
    if (!plan.n_features) {
      const n = Math.min(MOST_STEPS, Math.max(1, Math.floor(Number(number.value)) || 1));
      return Array.from({ length: n }, () => []);
    }
    if (page.symbols) return Array.from(box.value.trim(), (symbol) => {
      const found = page.symbols.indexOf(symbol);
      if (found < 0) throw new Error(`"${symbol}" is none of ${page.symbols.join(" ")}`);
      return page.symbols.map((_, k) => (k === found ? 1 : -1));
    });
    const lines = box.value.split("\n").filter((line) => line.trim());
    if (lines.length > MOST_STEPS) throw new Error(`${lines.length} steps; the page reads ${MOST_STEPS}`);
    return lines.map((line, t) => {
      const row = line.trim().split(/[\s,;]+/).map(Number);
      if (row.length !== plan.n_features || !row.every(Number.isFinite))
        throw new Error(`step ${t + 1}: ${plan.n_features} finite numbers are needed, not "${line.trim()}"`);
      return row;
    });
  }

  function edited() {
    try {
      rows = given();
      $("wrong").textContent = "";
      run();
    } catch (error) {
      $("say").textContent = "";
      $("wrong").textContent = error.message;
    }
  }

  $("words").textContent = page.words;
  for (const [name, value] of page.facts) $("facts").append(make("dt", {}, name), make("dd", {}, value));
  const off = model.difference(page.given, page.expected);
  $("check").textContent = off <= page.allowed
    ? `This page computes what Python does: on ${page.given.length} steps the values differ by at most ${off.toExponential(1)}.`
    : `This page does NOT compute what Python does: values differ by ${off}. Do not rely on it.`;
  $("history").hidden = page.fitness.length < 2 || !page.fitness.every((value) => value >= 0);
  if (!plan.n_features) {
    $("how").textContent = "The series goes on after the last value of the training: every value is fed back. Steps:";
    $("edit").append(number);
    number.addEventListener("input", edited);
  } else {
    $("how").textContent = page.symbols ? `A string over ${page.symbols.join(" ")}; edit it.`
      : `One step a line, ${names.length > 8 ? `${names.length} numbers` : names.join(", ")}. Edit them, or draw in the picture of the inputs.`;
    $("edit").append(box);
    box.addEventListener("input", edited);
    if (!page.symbols && names.length > 1) {
      const choice = make("select", { "aria-label": "column that is drawn" });
      names.forEach((name, k) => choice.append(make("option", { value: k }, `draw ${name}`)));
      choice.addEventListener("change", () => { column = Number(choice.value); });
      $("edit").append(choice);
    }
    show();
  }
  const first = () => {
    try {
      run();
    } catch (error) {
      $("say").textContent = "";
      $("wrong").textContent = error.message;
    }
  };
  first();
  addEventListener("resize", first);
})();
