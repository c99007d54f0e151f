"use strict";
// Everything is made of elements and text nodes: no text of a model ever becomes markup.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const runs = data.document.runs;
  const SVG = "http://www.w3.org/2000/svg";
  const ROW = 42, MANY = 12, EXCERPT = 3, PRINTED = 400, FILTER = 8;
  // Columns are as wide as what is new in them, in letters: states have at least so many, events some more.
  const NARROW = 8, WIDE = 16, WIDEST = 90, MORE = 10, BESIDE = 16;

  const make = (tag, attributes, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === undefined || value === null || value === false) continue;
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children.flat(Infinity).filter(child => child !== undefined && child !== null));
    return element;
  };
  const count = number => Number.isSafeInteger(number) ? number.toLocaleString("en-US") : Number(number).toExponential(3);
  const several = (number, word) => `${count(number)} ${word}${number === 1 ? "" : "s"}`;
  const seconds = number => `${number < 0.01 ? "< 0.01" : number.toFixed(2)} s`;
  const bytes = number => number > 1e9 ? `${(number / 1e9).toFixed(2)} GB` : `${(number / 1e6).toFixed(1)} MB`;
  // A number of many digits, rounded.
  const magnitude = digits => digits.length > 15 ? `${digits[0]}.${digits.slice(1, 3)} × 10^${digits.length - 1}` : count(Number(digits));
  const shortened = (names, most) => names.slice(0, most).join(", ") + (names.length > most ? `, … (${count(names.length)} in all)` : "");
  const set = events => events.length ? `{${events.join(", ")}}` : "{}";

  // A chart as an image, in which nothing runs; each is made once.
  const images = new Map();
  const image = chart => {
    if (!images.has(chart)) images.set(chart, URL.createObjectURL(new Blob([chart], { type: "image/svg+xml" })));
    return images.get(chart);
  };

  // A path may be broken after its folders.
  const path = name => name.split("/").flatMap((part, at) => at ? ["/", make("wbr"), part] : [part]);

  const everything = runs.flatMap((run, at) => run.results.map((answer, place) => ({ run, at, answer, place })));
  const found = (at, index) => everything.find(one => one.at === at && one.answer.index === index);
  let viewer = null;

  // Where the reader is: the run, the assertion, the step; in the address, so that it can be kept and sent.
  const address = () => {
    const [run, index, step] = location.hash.slice(1).split(".").map(Number);
    const one = found(run - 1, index);
    return one && { one, step: Number.isFinite(step) ? step : undefined };
  };
  const remember = (one, step) => {
    const hash = `#${one.at + 1}.${one.answer.index}` + (step === undefined ? "" : `.${step}`);
    try { history.replaceState(null, "", hash); } catch { /* some browsers refuse this for files */ }
  };

  const verdict = answer => make("span", { class: `verdict ${answer.verdict}` },
    { holds: "✓ holds", fails: "✗ fails", unknown: "? unknown", error: "! error" }[answer.verdict]);

  function counts(answer) {
    const states = answer.visited_states === undefined ? several(answer.vertices ?? 0, "vertex").replace("vertexs", "vertices")
      : several(answer.visited_states, "state");
    return `${states}, ${seconds(answer.compile_seconds + answer.check_seconds)}`;
  }

  function overview() {
    const total = { holds: 0, fails: 0, unknown: 0, error: 0 };
    everything.forEach(({ answer }) => total[answer.verdict] += 1);
    const words = Object.entries(total).filter(([, number]) => number).map(([name, number]) => [name,
      `${number} ${number === 1 ? name : { holds: "hold", fails: "fail", error: "errors" }[name] || name}`]);
    const summary = document.getElementById("summary");
    summary.append(several(everything.length, "assertion"), words.length ? ": " : "",
      ...words.flatMap(([name, text], at) => [at ? ", " : "", make("span", { class: `verdict ${name}` }, text)]));
    const broken = runs.filter(run => run.errors.length).length;
    if (broken) summary.append(words.length ? "; " : ": ", make("span", { class: "verdict error" }, `${several(broken, "file")} with errors`));
    const files = runs.map(run => run.file_name.split("/").pop());
    document.title = `${words.map(([, text]) => text).join(", ") || "no answers"}: ${files.slice(0, 3).join(", ")}${files.length > 3 ? ", …" : ""}`;
    const nav = document.getElementById("answers");
    if (everything.length > FILTER && words.length > 1) {
      const choices = [["all", ""], ...words.map(([name, text]) => [text, name])];
      const buttons = choices.map(([text, name]) => make("button", { type: "button", "aria-pressed": String(!name), onclick: event => {
        nav.dataset.only = name;
        buttons.forEach(button => button.setAttribute("aria-pressed", String(button === event.target)));
      } }, text));
      nav.append(make("div", { class: "tools", role: "group", "aria-label": "which assertions are listed" }, buttons));
    }
    runs.forEach((run, at) => {
      nav.append(make("p", { class: "file" }, path(run.file_name)));
      run.errors.forEach(error => nav.append(make("p", { class: "error" }, error)));
      run.results.forEach((answer, place) => nav.append(make("button", {
        class: "answer", type: "button", "data-run": at, "data-index": answer.index, "data-verdict": answer.verdict,
        onclick: () => { show({ run, at, answer, place }); reveal(); },
      }, make("span", {}, String(answer.index)), make("span", {}, verdict(answer), make("div", { class: "claim", title: answer.assertion_string }, answer.assertion_string)),
      make("span", { class: "counts" }, counts(answer)))));
    });
    document.getElementById("foot").append(`Trefoil ${data.document.trefoil}`);
  }

  // Keys are shown where they work.
  const keys = list => make("p", { class: "keys soft" }, list.map(([names, what], at) => [at ? " · " : "", make("kbd", {}, names), ` ${what}`]));

  // On a narrow window the answer stands below the list.
  function reveal() {
    const main = document.getElementById("details");
    if (main.getBoundingClientRect().top > innerHeight * 0.6) main.scrollIntoView({ block: "start" });
    else if (main.getBoundingClientRect().top < 0) window.scrollTo(0, 0);
  }

  function show(one, step) {
    document.querySelectorAll(".answer").forEach(button => button.setAttribute("aria-current",
      String(Number(button.dataset.run) === one.at && Number(button.dataset.index) === one.answer.index)));
    const { answer } = one;
    const main = document.getElementById("details");
    main.replaceChildren(make("h2", {}, verdict(answer), " ", make("code", {}, answer.assertion_string)));
    const sentence = data.sentences[one.at][one.place];
    if (sentence) main.append(make("p", { class: "sentence" }, sentence));
    if (!sentence && answer.reason) main.append(make("p", {}, answer.reason));
    answer.errors.filter(error => error !== answer.reason).forEach(error => main.append(make("p", { class: "error" }, error)));
    viewer = null;
    remember(one, step);
    if (answer.witness) evidence(main, one, step);
    facts(main, one);
  }

  // What there is to say when no assertion was answered.
  function nothing() {
    const errors = runs.flatMap(run => run.errors);
    document.getElementById("details").replaceChildren(make("h2", {}, errors.length ? "Nothing could be checked" : "There is nothing to check"),
      ...(errors.length ? errors.map(error => make("p", { class: "error" }, error))
        : [make("p", {}, runs.some(run => run.assertions && run.assertions.length) ? "None of the assertions was chosen." : "The files have no assertions.")]));
  }

  function evidence(main, one, step) {
    const { answer } = one, told = answer.witness;
    const worth = told.runs.filter(run => run.steps.length || (run.cycle || []).length);
    if (worth.length) {
      main.append(make("h3", {}, answer.verdict === "holds" ? "The run" : "The counterexample"));
      const place = make("div", {});
      if (told.runs.length > 1) {
        const tabs = told.runs.map((_, number) => make("button", { type: "button", onclick: () => open(number) },
          ["first run", "second run"][number] || `run ${number + 1}`));
        const open = number => {
          tabs.forEach((tab, at) => tab.setAttribute("aria-pressed", String(at === number)));
          viewer = new Viewer(one, told.runs[number], place, number);
          viewer.select(0, 0);
        };
        main.append(make("div", { class: "tools" }, tabs), place);
        open(0);
      } else {
        main.append(place);
        viewer = new Viewer(one, told.runs[0], place, 0);
        viewer.select(step === undefined ? viewer.columns.length - 1 : step, 0);
      }
    }
    if (told.finding.kind === "formula") strategy(main, told.finding);
    const chart = data.charts[one.at][one.place];
    if (chart) {
      const picture = make("div", { class: "chart", tabindex: "0", role: "region", "aria-label": "message-sequence chart" });
      const draw = () => {
        if (picture.firstChild) return;
        // One unit of the chart is one pixel: a wide chart is scrolled, and letters stay as large as others.
        const wide = /viewBox="0 0 ([\d.]+) ([\d.]+)"/.exec(chart);
        picture.append(make("img", { src: image(chart), alt: "message-sequence chart of the run", width: wide && Math.ceil(wide[1]), height: wide && Math.ceil(wide[2]) }));
      };
      main.append(make("details", { ontoggle: draw }, make("summary", {}, "Message-sequence chart"), picture));
    }
  }

  // A formula's strategy: positions, who chooses there, and where the moves lead.
  function strategy(main, finding) {
    main.append(make("h3", {}, finding.holds ? "Why the formula holds" : "Why the formula fails"),
      make("p", {}, `${several(finding.positions, "position")} of the formula in states of the model` +
        (finding.has_choices ? "; the strategy answers every choice of an opponent." : "."), " At the end of the run: ", make("code", {}, finding.part)));
    if (!finding.proof || !finding.proof.length) return;
    const rows = finding.proof.map((position, number) => make("tr", { id: `position-${number}`, tabindex: "-1" },
      make("td", {}, String(number)), make("td", {}, make("code", {}, position.part)),
      make("td", {}, position.states.filter(Boolean).join("; ")), make("td", {}, position.chosen ? "the strategy" : "an opponent"),
      make("td", {}, position.moves.map(move => make("button", { class: "move", type: "button", onclick: () => {
        const row = document.getElementById(`position-${move.to}`);
        row.scrollIntoView({ block: "nearest" });
        row.focus();
      } }, `${move.event ? move.event + " " : ""}→ ${move.to}`)))));
    main.append(make("div", { style: "overflow-x:auto" }, make("table", { class: "positions" }, make("thead", {}, make("tr", {},
      ["position", "part of the formula", "state", "who chooses", "moves"].map(name => make("th", { scope: "col" }, name)))), make("tbody", {}, rows))));
  }

  // A table of components and steps, of which only what is visible exists as elements. A cell has text where something
  // is new: what its component does, and the state it is in then; in the first and in the selected column every state.
  class Viewer {
    constructor(one, run, place, number) {
      Object.assign(this, { one, run, number, told: one.answer.witness });
      this.stem = run.steps.length;
      this.columns = [{ event: "", parts: [], states: run.initial, first: true }, ...run.steps, ...(run.cycle || [])];
      this.columns.forEach((column, at) => {
        column.acting = this.acting(column);
        const before = at ? this.columns[at - 1].states : [];
        column.changed = new Set();
        if (at) column.states.forEach((state, part) => { if (state !== before[part]) column.changed.add(part); });
      });
      this.cycle = (run.cycle || []).length;
      this.operators = this.told.operators || [];
      this.closed = new Set();
      this.all = this.told.components.length <= MANY;
      this.step = 0;
      this.row = 0;
      this.canvas = make("div", { class: "canvas" });
      this.grid = make("div", { class: "grid", role: "grid", tabindex: "0", "aria-label": "components and steps",
        onscroll: () => this.later(), onkeydown: event => this.key(event), onclick: event => this.pick(event) }, this.canvas);
      this.slider = make("input", { type: "range", min: "0", max: String(this.columns.length - 1), "aria-label": "step",
        oninput: () => this.select(Number(this.slider.value), this.row) });
      this.where = make("output", {});
      const button = (text, label, act) => make("button", { type: "button", "aria-label": label, title: label, onclick: act }, text);
      const tools = make("div", { class: "tools" }, button("|◀", "first step", () => this.select(0, this.row)),
        button("◀", "previous step", () => this.move(-1)), button("▶", "next step", () => this.move(1)),
        button("▶|", "last step", () => this.select(this.columns.length - 1, this.row)), this.slider, this.where);
      if (this.told.components.length > MANY) {
        tools.append(make("label", {}, make("input", { type: "checkbox", onchange: event => { this.all = event.target.checked; this.layout(); } }),
          ` all ${count(this.told.components.length)} components`));
      }
      this.panel = make("section", { class: "step", "aria-live": "polite" });
      const hints = keys([["← →", "steps"], ["↑ ↓", "rows"], ["Home End", "first and last step"], ["n p", "next and previous change of the row"],
        ...(this.operators.length ? [["Enter", "opens and closes an operator"]] : []), ["[ ]", "assertions"]]);
      place.replaceChildren(tools, make("div", { class: "bench" }, make("div", {}, this.grid, hints), this.panel));
      this.layout();
    }

    // Who takes a step: as the report says, or by the name in a step of Promela.
    acting(column) {
      const parts = new Map(column.parts.map(part => [part.component, part.event]));
      const event = column.event.startsWith("τ (") ? column.event.slice(3, -1) : column.event;
      const told = !parts.size && /^(\S+\(\d+\)) line \d+: (.*)$/s.exec(event);
      if (told) {
        const component = this.told.components.indexOf(told[1]);
        if (component >= 0) {
          parts.set(component, told[2]);
          column.short = told[2];
        }
      }
      return parts;
    }

    layout() {
      const taking = new Set();
      this.columns.forEach(column => {
        for (const component of column.acting.keys()) taking.add(component);
        if (!column.acting.size) column.changed.forEach(component => taking.add(component));
      });
      const specification = this.specification();
      this.rows = [
        ...(specification ? [{ kind: "specification", name: specification.name, depth: 0 }] : []),
        { kind: "whole", name: "event", depth: 0 },
      ];
      // Components below the operators that they are operands of.
      let open = [], next = 0;
      this.told.components.forEach((name, component) => {
        open = open.filter(operator => component < operator.first + operator.count);
        for (; next < this.operators.length && this.operators[next].first === component; next += 1) {
          const operator = this.operators[next], inside = [...Array(operator.count).keys()].map(at => component + at);
          const shown = inside.filter(part => this.all || taking.has(part));
          if (shown.length > 1 && !open.some(above => above.closed)) {
            const row = { kind: "operator", name: operator.name, depth: open.length, number: next, inside, closed: this.closed.has(next) };
            this.rows.push(row);
            open.push({ ...operator, closed: row.closed });
          }
        }
        if ((this.all || taking.has(component)) && !open.some(above => above.closed)) this.rows.push({ kind: "component", name, component, depth: open.length });
      });
      // The steps, the specification and the event stay where they are when components are scrolled.
      this.fixed = this.rows.findIndex(row => row.kind === "whole") + 1;
      this.row = Math.min(this.row, this.rows.length - 1);
      this.letter = this.measured();
      const longest = this.rows.reduce((most, row) => Math.max(most, row.name.length + 2 * row.depth + (row.kind === "operator" ? 2 : 0)), 0);
      const room = this.grid.clientWidth || 900;
      this.headWidth = Math.round(Math.min(longest * this.letter + 20, 280, Math.max(96, room * 0.3)));
      this.measure(room - this.headWidth);
      this.grid.style.setProperty("--headwidth", `${this.headWidth}px`);
      this.canvas.style.width = `${this.headWidth + this.starts[this.columns.length]}px`;
      this.canvas.style.height = `${(this.rows.length + 1) * ROW}px`;
      this.grid.setAttribute("aria-rowcount", this.rows.length + 1);
      this.grid.setAttribute("aria-colcount", this.columns.length);
      this.render();
    }

    // How wide the columns are, and where each begins: states have as much room as the window leaves.
    measure(room) {
      const letters = this.columns.map((column, at) => {
        let [events, states] = [Math.max(NARROW, this.place(at).length), 0];
        for (const row of this.rows) {
          if (row.kind === "component" && at && !column.changed.has(row.component) && !column.acting.has(row.component)) continue;
          if (row.kind === "operator") continue;
          const { own, state } = this.cell(row, at);
          events = Math.max(events, own.length, row.kind === "specification" ? state.length : 0);
          if (row.kind !== "specification") states = Math.max(states, state.length);
        }
        return [events, states];
      });
      const width = ([events, states], most) => Math.round(Math.max(Math.min(events, most + MORE), Math.min(states, most)) * this.letter + BESIDE);
      const total = most => letters.reduce((sum, own) => sum + width(own, most), 0);
      let most = total(NARROW + 2) > room ? WIDE : NARROW + 2;
      while (most < WIDEST && total(most + 1) <= room) most += 1;
      this.starts = [0];
      letters.forEach(own => this.starts.push(this.starts[this.starts.length - 1] + width(own, most)));
    }

    // How wide a letter of the table is.
    measured() {
      const probe = make("span", { style: "position:absolute;visibility:hidden;font-weight:650" }, "m".repeat(40));
      this.grid.append(probe);
      const wide = probe.getBoundingClientRect().width / 40;
      probe.remove();
      return wide || 8.4;
    }

    // The column at a place across.
    column(across) {
      let [low, high] = [0, this.columns.length - 1];
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (this.starts[middle] <= across) low = middle; else high = middle - 1;
      }
      return low;
    }

    // Of a refinement: what the specification does beside the system.
    specification() {
      const beside = (this.one.answer.counterexamples[0] || {}).specification_behaviour;
      return this.number === 0 && this.told.runs.length === 1 && beside ? beside : null;
    }

    later() {
      if (this.waits) return;
      this.waits = requestAnimationFrame(() => { this.waits = null; this.render(); });
    }

    // Steps have the numbers that explanations and charts have.
    label(at) {
      return at === 0 ? "start" : at <= this.stem ? count(at) : `↻ ${count(at)}`;
    }

    cell(row, at) {
      const column = this.columns[at], last = at === this.columns.length - 1, finding = this.told.finding;
      const wrong = last && ["event", "forbidden", "fault"].includes(finding.kind);
      const classes = ["cell"];
      let own = "", state = "", full;
      if (row.kind === "whole") {
        own = column.first ? "" : column.short || column.event;
        if (wrong) classes.push("wrong");
      } else if (row.kind === "specification") {
        const visible = !column.first && !column.event.startsWith("τ");
        own = wrong ? "" : visible ? column.event : "";
        if (last) state = finding.kind === "event" ? `allows ${set(finding.allowed)}`
          : finding.kind === "acceptance" ? `accepts ${finding.allowed.map(set).join(" or ")}` : "";
        if (wrong) classes.push("wrong");
      } else if (row.kind === "operator") {
        own = [...new Set(row.inside.filter(part => column.acting.has(part)).map(part => column.acting.get(part)))].join(", ");
        if (own) classes.push("acts");
        else if (row.closed && row.inside.some(part => column.changed.has(part))) classes.push("changed");
      } else {
        state = column.states[row.component] || "";
        if (column.acting.has(row.component)) { classes.push("acts"); own = column.acting.get(row.component); }
        full = state;
        if (column.changed.has(row.component)) {
          classes.push("changed");
          state = this.news(this.columns[at - 1].states[row.component], state);
        } else if (at) classes.push("same");
      }
      if (at > this.stem) classes.push("repeats");
      if (at === this.step) classes.push("column");
      return { classes, own, state, full: full || state };
    }

    // What is new in a state that is a list of values, as those of Promela are.
    news(before, state) {
      const values = text => (text || "").split(/ (?=[\w.[\]]+=)/);
      const known = new Set(values(before)), all = values(state), fresh = all.filter(value => !known.has(value));
      return fresh.length && fresh.length < all.length ? fresh.join(" ") : state;
    }

    render() {
      const { scrollLeft, scrollTop, clientWidth, clientHeight } = this.grid;
      const wide = clientWidth || 900, high = clientHeight || 500;
      const first = Math.max(0, this.column(scrollLeft) - 1);
      const last = Math.min(this.columns.length - 1, this.column(scrollLeft + wide) + 1);
      const top = Math.max(0, Math.floor(scrollTop / ROW) - 2);
      const bottom = Math.min(this.rows.length - 1, Math.ceil((scrollTop + high) / ROW) + 1);
      const at = column => `left:${this.headWidth + this.starts[column]}px;width:${this.starts[column + 1] - this.starts[column]}px`;
      const heads = [make("div", { class: "head", role: "rowheader" }, "step")];
      for (let column = first; column <= last; column += 1) {
        const classes = ["cell", column > this.stem ? "repeats" : "", column === this.step ? "column" : ""].join(" ");
        heads.push(make("div", { class: classes, role: "columnheader", style: at(column), "data-column": column, "aria-colindex": column + 1 },
          make("div", { class: "own" }, this.label(column)), make("div", { class: "state" }, this.place(column))));
      }
      const line = number => {
        const row = this.rows[number];
        const sign = row.kind === "operator" ? make("span", { class: "sign", "aria-hidden": "true" }, row.closed ? "▸" : "▾") : null;
        const cells = [make("div", { class: "head", role: "rowheader", title: row.name, "data-row": number, style: row.depth ? `padding-left:${0.5 + row.depth * 0.9}rem` : undefined,
          "aria-expanded": row.kind === "operator" ? String(!row.closed) : undefined }, sign, row.name)];
        for (let column = first; column <= last; column += 1) {
          const { classes, own, state, full } = this.cell(row, column);
          const here = number === this.row && column === this.step;
          if (here) classes.push("here");
          const quiet = row.kind === "component" && classes.includes("same") && column !== this.step && !own;
          cells.push(make("div", { class: classes.join(" "), role: "gridcell", style: at(column), title: own && full ? `${own}\n${full}` : own || full,
            id: here ? "here" : undefined, "aria-selected": here ? "true" : undefined, "aria-colindex": column + 1, "data-row": number, "data-column": column },
            make("div", { class: "own" }, own), make("div", { class: "state" }, quiet ? "" : state)));
        }
        return make("div", { class: `row ${row.kind}`, role: "row", "aria-rowindex": number + 2, style: `top:${(number + 1) * ROW}px;height:${ROW}px` }, cells);
      };
      const above = [make("div", { class: "row steps", role: "row", style: `top:0;height:${ROW}px` }, heads)];
      for (let number = 0; number < this.fixed; number += 1) above.push(line(number));
      const lines = [make("div", { class: "top", role: "rowgroup", style: `height:${(this.fixed + 1) * ROW}px` }, above)];
      for (let number = Math.max(top, this.fixed); number <= bottom; number += 1) lines.push(line(number));
      this.canvas.replaceChildren(...lines);
      this.grid.setAttribute("aria-activedescendant", "here");
    }

    place(at) {
      const place = this.columns[at].place;
      return place && place.line ? `line ${place.line}` : "";
    }

    move(by) {
      let step = this.step + by;
      // The end of a lasso leads back to where its cycle begins.
      if (step >= this.columns.length) step = this.cycle ? this.stem + 1 : this.columns.length - 1;
      this.select(Math.max(0, step), this.row);
    }

    change(by) {
      const row = this.rows[this.row];
      for (let at = this.step + by; at > 0 && at < this.columns.length; at += by) {
        const { classes, own } = this.cell(row, at);
        if (row.kind === "component" ? classes.includes("changed") || classes.includes("acts") : own) return this.select(at, this.row);
      }
    }

    // Opens or closes an operator.
    toggle(row) {
      if (!row || row.kind !== "operator") return;
      if (!this.closed.delete(row.number)) this.closed.add(row.number);
      this.layout();
      this.select(this.step, this.rows.findIndex(other => other.number === row.number));
    }

    key(event) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const act = {
        ArrowLeft: () => this.move(-1), ArrowRight: () => this.move(1),
        ArrowUp: () => this.select(this.step, this.row - 1), ArrowDown: () => this.select(this.step, this.row + 1),
        PageUp: () => this.select(this.step - 10, this.row), PageDown: () => this.select(this.step + 10, this.row),
        Home: () => this.select(0, this.row), End: () => this.select(this.columns.length - 1, this.row),
        n: () => this.change(1), p: () => this.change(-1),
        Enter: () => this.toggle(this.rows[this.row]),
      }[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    }

    pick(event) {
      const cell = event.target.closest("[data-column], [data-row]");
      if (!cell) return;
      const step = cell.dataset.column === undefined ? this.step : Number(cell.dataset.column);
      this.select(step, cell.dataset.row === undefined ? this.row : Number(cell.dataset.row));
      if (cell.classList.contains("head")) this.toggle(this.rows[this.row]);
    }

    select(step, row) {
      this.step = Math.min(Math.max(step, 0), this.columns.length - 1);
      this.row = Math.min(Math.max(row, 0), this.rows.length - 1);
      this.slider.value = String(this.step);
      this.where.value = `step ${this.label(this.step)} of ${count(this.stem + this.cycle)}` +
        (this.cycle ? `; ${count(this.stem + 1)} to ${count(this.stem + this.cycle)} repeat` : "");
      // From the rows that stay the reader follows the components that take part.
      const column = this.columns[this.step], acts = this.rows.findIndex(one => one.kind === "component" && column.acting.has(one.component));
      const left = this.starts[this.step], right = this.starts[this.step + 1];
      const top = ((this.row < this.fixed && acts > 0 ? acts : this.row) - this.fixed) * ROW;
      const wide = this.grid.clientWidth - this.headWidth, high = this.grid.clientHeight - (this.fixed + 1) * ROW;
      if (right > this.grid.scrollLeft + wide) this.grid.scrollLeft = right - wide;
      if (left < this.grid.scrollLeft) this.grid.scrollLeft = left;
      if (top < this.grid.scrollTop) this.grid.scrollTop = Math.max(0, top);
      else if (top + ROW > this.grid.scrollTop + high) this.grid.scrollTop = top + ROW - high;
      this.render();
      this.tell();
      remember(this.one, this.step);
    }

    // The step that is selected, in full, with its places in the texts.
    tell() {
      const column = this.columns[this.step], names = this.told.components;
      const lines = [], others = [];
      const places = column.parts.map(part => ({ place: part.place, who: names[part.component] })).filter(one => one.place);
      if (!places.length && column.place) places.push({ place: column.place, who: "" });
      column.states.forEach((state, component) => {
        const acts = column.acting.get(component);
        const line = [make("dt", {}, names[component] || ""), make("dd", {}, acts && names.length > 1 ? make("div", {}, make("strong", {}, acts)) : null, make("code", {}, state))];
        (acts !== undefined || column.changed.has(component) ? lines : others).push(line);
      });
      const last = this.step === this.columns.length - 1;
      const title = this.step === 0 ? "The start" : `Step ${this.label(this.step)}: `;
      const rest = others.length > 1 || lines.length ? make("details", { open: this.step === 0 && others.length <= MANY },
        make("summary", {}, `${this.step ? "unchanged: " : ""}${several(others.length, "component")}`), make("dl", {}, others)) : make("dl", {}, others);
      this.panel.replaceChildren(make("h3", { style: "margin-top:0" }, title, this.step ? make("code", {}, column.event) : null),
        this.step > this.stem ? make("p", { class: "soft" }, "This step is part of the cycle that repeats forever.") : "",
        ...this.excerpts(places), lines.length ? make("dl", {}, lines) : "", others.length ? rest : "", ...(last ? this.end() : []));
      // What happens is in sight, also at the end of a long line.
      this.panel.querySelectorAll(".excerpt").forEach(excerpt => {
        const mark = excerpt.querySelector("mark");
        if (mark) excerpt.scrollLeft = Math.max(0, mark.offsetLeft + mark.offsetWidth + 24 - excerpt.clientWidth);
      });
    }

    // The lines of the texts around places; places that are close together share an excerpt.
    excerpts(places) {
      const parts = [];
      for (const { place, who } of places.filter(({ place }) => place.line)) {
        const [from, to] = [Math.max(1, place.line - EXCERPT), place.line + EXCERPT];
        const near = parts.find(part => part.file === place.file && from <= part.to + 1 && to >= part.from - 1);
        const part = near || { file: place.file, from, to, marks: [] };
        if (!near) parts.push(part);
        [part.from, part.to] = [Math.min(part.from, from), Math.max(part.to, to)];
        const known = part.marks.find(mark => mark.line === place.line && mark.column === place.column);
        if (known) known.who.push(who); else part.marks.push({ line: place.line, column: place.column, who: [who] });
      }
      return parts.map(({ file, from, to, marks }) => {
        const text = data.sources[file], lines = text === undefined ? [] : text.split(/\r?\n/);
        const told = marks.map(({ line, column, who }) => `${line}${column ? `:${column}` : ""}${who[0] ? ` (${shortened(who, 3)})` : ""}`);
        const rows = [];
        for (let at = from; at <= Math.min(lines.length, to); at += 1) {
          const own = marks.filter(mark => mark.line === at);
          rows.push(make("div", { class: own.length ? "text at" : "text" }, make("span", { class: "number" }, String(at)), this.marked(lines[at - 1], own)));
        }
        return make("div", { class: "excerpt", tabindex: "0", role: "region", "aria-label": "source" }, make("div", { class: "name" }, `${file}:${told.join(", ")}`), rows);
      });
    }

    // A line with what happens in it underlined: up to a blank outside of brackets, of Promela a whole statement.
    marked(line, marks) {
      const letters = Array.from(line), parts = [];
      let done = 0;
      for (const from of [...new Set(marks.map(mark => (mark.column || 1) - 1))].sort((a, b) => a - b).filter(from => from < letters.length)) {
        let end = from, depth = 0;
        for (; end < letters.length; end += 1) {
          const letter = letters[end];
          if ("([{".includes(letter)) depth += 1;
          if (")]}".includes(letter)) depth -= 1;
          const ends = this.told.story ? letter === ";" || letter === "-" && letters[end + 1] === ">" : /\s/.test(letter);
          if (depth < 0 || depth === 0 && end > from && ends) break;
        }
        while (end > from + 1 && /\s/.test(letters[end - 1])) end -= 1;
        if (from < done) continue;
        parts.push(letters.slice(done, from).join(""), make("mark", {}, letters.slice(from, end).join("")));
        done = end;
      }
      return [...parts, letters.slice(done).join("")];
    }

    end() {
      const parts = [];
      if (this.run.offered) parts.push(make("p", {}, "offered here: ", make("code", {}, set(this.run.offered))));
      if (this.run.refused) parts.push(make("p", {}, "refused here: ", make("code", {}, set(this.run.refused))));
      if (this.run.waiting && this.run.waiting.length && this.told.components.length > 1) {
        const rows = this.run.waiting.map((events, component) => [events, component]).filter(([events]) => events.length).slice(0, 60);
        parts.push(make("p", {}, "each component on its own offers"), make("dl", {}, rows.flatMap(([events, component]) =>
          [make("dt", {}, this.told.components[component]), make("dd", {}, make("code", {}, set(events)))])));
      }
      return parts;
    }
  }

  function facts(main, one) {
    const { answer } = one, rows = [];
    const row = (name, ...values) => rows.push(make("dt", {}, name), make("dd", {}, values));
    const game = answer.visited_states === undefined;
    row("found", game ? `${count(answer.vertices ?? 0)} vertices, ${count(answer.edges ?? 0)} edges of the game`
      : `${several(answer.visited_states, "state")}, ${several(answer.visited_transitions, "transition")}${answer.visited_plys ? `, ${several(answer.visited_plys, "level")}` : ""}`);
    row("time", `${seconds(answer.check_seconds)} for the search, ${seconds(answer.compile_seconds)} for compiling`);
    if (answer.peak_memory_bytes) row("memory", `${bytes(answer.peak_memory_bytes)} at most${answer.store_bytes ? `, ${bytes(answer.store_bytes)} for states` : ""}`);
    if (answer.engine) row("engine", answer.engine + (answer.solver ? `, solver ${answer.solver}` : "") + (answer.algorithm && answer.algorithm !== answer.engine ? `, ${answer.algorithm}` : ""));
    if (answer.why) row("why this engine", answer.why);
    row("made smaller by", answer.reductions.length ? make("ul", { style: "margin:0;padding-left:1.1rem" }, answer.reductions.map(text => make("li", {}, text))) : "nothing");
    (answer.notes || []).forEach(note => row("note", note));
    (answer.details || []).forEach(note => row("detail", note));
    (answer.unreached || []).forEach(part => row(`never reached in ${part.process}`, part.statements.map(one => make("div", {}, `line ${one.line}: `, make("code", {}, one.statement)))));
    (answer.diagnostics || []).forEach(told => row(told.code, told.message, ...(told.help ? [make("div", { class: "soft" }, told.help)] : [])));
    main.append(make("h3", {}, "The search"), make("dl", { class: "facts" }, rows));
    symmetry(main, one);
    if (answer.growth && answer.growth.length > 2) growth(main, answer.growth, game);
  }

  // A line for each, the first ones at once.
  function listed(all, line) {
    const MOST = 6, lines = all.map(one => make("div", {}, line(one)));
    if (all.length <= MOST + 1) return lines;
    return [lines.slice(0, MOST), make("details", {}, make("summary", {}, `${count(all.length - MOST)} more`), lines.slice(MOST))];
  }

  function symmetry(main, one) {
    const used = one.answer.symmetry, proved = data.symmetry[one.at][one.place];
    if (!used && !proved) return;
    const rows = [];
    const row = (name, ...values) => rows.push(make("dt", {}, name), make("dd", {}, values));
    const group = used || (proved && proved.group);
    if (!group && proved && proved.none) row("group", proved.none);
    else row("group", group ? `${group.structure}, of order ${magnitude(group.order)}${used ? "" : "; this search did not use it"}` : "only the identity");
    if (used) row("representatives", used.strategy + (used.total_states ? `; they stand for ${magnitude(used.total_states)} states` : ""));
    ((group && group.permuted) || []).forEach(part => row(`permuted ${part.datatype || part.kind.replace("_", " ")}`, shortened(part.names, 24)));
    const generators = (proved && (proved.generators || (proved.group && proved.group.generators))) || [];
    if (generators.length) row("generators", listed(generators, text => make("code", {}, text)));
    const reasons = proved ? [...(proved.reasons || []), ...(proved.types || []).flatMap(type => type.reasons || [])] : [];
    const words = reason => typeof reason === "string" ? reason : `${reason.reason}${reason.place && reason.place.line ? ` (line ${reason.place.line})` : ""}`;
    if (reasons.length) row("not larger because", listed([...new Set(reasons.map(words))], reason => reason));
    main.append(make("h3", {}, "Symmetry"), make("dl", { class: "facts" }, rows));
  }

  // The number of states found by level.
  function growth(main, levels, game) {
    const [wide, high, left, bottom] = [520, 200, 64, 24];
    const most = Math.max(1, ...levels.map(([, states]) => states)), deepest = Math.max(1, levels[levels.length - 1][0]);
    const x = level => left + (wide - left - 8) * level / deepest, y = states => high - bottom - (high - bottom - 12) * states / most;
    const part = (name, attributes, text) => {
      const element = document.createElementNS(SVG, name);
      Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
      if (text !== undefined) element.append(text);
      return element;
    };
    const words = `${game ? "vertices" : "states"} by level: ${count(most)} after ${count(deepest)}`;
    const svg = part("svg", { viewBox: `0 0 ${wide} ${high}`, class: "growth", role: "img", "aria-label": words });
    svg.append(part("line", { x1: left, y1: y(0), x2: wide, y2: y(0) }), part("line", { x1: left, y1: 0, x2: left, y2: y(0) }),
      part("text", { x: left - 6, y: y(most) + 4, "text-anchor": "end" }, count(most)), part("text", { x: left - 6, y: y(0), "text-anchor": "end" }, "0"),
      part("text", { x: wide - 8, y: high - 6, "text-anchor": "end" }, `level ${count(deepest)}`),
      part("polyline", { points: levels.map(([level, states]) => `${x(level).toFixed(1)},${y(states).toFixed(1)}`).join(" ") }));
    main.append(make("h3", {}, "Growth"), make("p", { class: "soft" }, words), svg);
  }

  // On paper: of every answer with a run its steps as a list, its chart, and what the search took.
  function printed() {
    const sections = everything.filter(({ answer }) => answer.witness).map(one => {
      const told = one.answer.witness;
      const lists = told.runs.map((run, number) => {
        const steps = [...run.steps, ...(run.cycle || [])];
        let before = run.initial;
        const items = steps.slice(0, PRINTED).map((step, at) => {
          const changed = step.states.map((state, part) => state !== before[part] ? `${told.components[part]}: ${state}` : "").filter(Boolean);
          before = step.states;
          const place = step.place && step.place.line ? ` (${step.place.file}:${step.place.line})` : "";
          return make("li", {}, make("code", {}, `${at >= run.steps.length ? "↻ " : ""}${step.event}`), place, changed.length ? make("div", { class: "soft" }, changed.join("; ")) : null);
        });
        return make("div", {}, told.runs.length > 1 ? make("h3", {}, `Run ${number + 1}`) : null, make("ol", {}, items),
          steps.length > PRINTED ? make("p", {}, `… ${count(steps.length - PRINTED)} more`) : null);
      });
      const section = make("section", {}, make("h2", {}, `${one.run.file_name} ${one.answer.index}: `, verdict(one.answer), " ", make("code", {}, one.answer.assertion_string)),
        make("p", {}, data.sentences[one.at][one.place] || ""), lists);
      const chart = data.charts[one.at][one.place];
      if (chart) section.append(make("img", { src: image(chart), alt: "message-sequence chart of the run" }));
      facts(section, one);
      return section;
    });
    document.getElementById("printed").replaceChildren(...sections);
  }

  document.addEventListener("keydown", event => {
    const step = { "[": -1, "]": 1 }[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
    const buttons = [...document.querySelectorAll(".answer")];
    const at = buttons.findIndex(button => button.getAttribute("aria-current") === "true");
    const next = buttons[Math.min(Math.max(at + step, 0), buttons.length - 1)];
    if (next) { next.click(); next.focus(); }
  });
  addEventListener("beforeprint", printed);
  addEventListener("hashchange", () => { const there = address(); if (there) show(there.one, there.step); });
  addEventListener("resize", () => { if (viewer) viewer.layout(); });

  overview();
  const there = address();
  const first = everything.find(({ answer }) => answer.verdict === "fails") || everything[0];
  if (there) show(there.one, there.step);
  else if (first) show(first);
  else nothing();
})();
