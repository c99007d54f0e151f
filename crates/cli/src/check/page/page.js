"use strict";
// Everything is made of elements and text nodes: no text of a model ever becomes markup.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const runs = data.document.runs;
  const SVG = "http://www.w3.org/2000/svg";
  const COLUMN = 176, ROW = 46, MANY = 12, EXCERPT = 3, PRINTED = 400;

  const make = (tag, attributes, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === undefined || value === null || value === false) continue;
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children.flat().filter(child => child !== undefined && child !== null));
    return element;
  };
  const count = number => Number.isSafeInteger(number) ? number.toLocaleString("en-US") : Number(number).toExponential(3);
  const several = (number, word) => `${count(number)} ${word}${number === 1 ? "" : "s"}`;
  const seconds = number => `${number < 0.01 ? "< 0.01" : number.toFixed(2)} s`;
  const bytes = number => number > 1e9 ? `${(number / 1e9).toFixed(2)} GB` : `${(number / 1e6).toFixed(1)} MB`;
  const set = events => events.length ? `{${events.join(", ")}}` : "{}";

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
    const words = Object.entries(total).filter(([, number]) => number).map(([name, number]) =>
      make("span", { class: `verdict ${name}` },
      `${number} ${number === 1 ? name : { holds: "hold", fails: "fail", error: "errors" }[name] || name}`));
    const summary = document.getElementById("summary");
    summary.append(several(everything.length, "assertion"), ": ", ...words.flatMap((word, at) => at ? [", ", word] : [word]));
    const nav = document.getElementById("answers");
    runs.forEach((run, at) => {
      nav.append(make("p", { class: "file" }, path(run.file_name)));
      run.errors.forEach(error => nav.append(make("p", { class: "error" }, error)));
      run.results.forEach((answer, place) => nav.append(make("button", {
        class: "answer", type: "button", "data-run": at, "data-index": answer.index,
        onclick: () => show({ run, at, answer, place }),
      }, make("span", {}, String(answer.index)), make("span", {}, verdict(answer), make("div", { class: "claim" }, answer.assertion_string)),
      make("span", { class: "counts" }, counts(answer)))));
    });
    document.getElementById("foot").append(`Trefoil ${data.document.trefoil}. Keys: `,
      ...[["← →", "steps"], ["↑ ↓", "rows"], ["Home End", "first and last step"], ["n p", "next and previous change of the row"], ["[ ]", "assertions"]]
        .flatMap(([keys, what], at) => [at ? ", " : "", make("kbd", {}, keys), ` ${what}`]), ".");
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
      const picture = make("div", { class: "chart" });
      const draw = () => {
        if (picture.firstChild) return;
        const address = URL.createObjectURL(new Blob([chart], { type: "image/svg+xml" }));
        picture.append(make("img", { src: address, alt: "message-sequence chart of the run" }));
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

  // A table of components and steps, of which only what is visible exists as elements.
  class Viewer {
    constructor(one, run, place, number) {
      Object.assign(this, { one, run, number, told: one.answer.witness });
      this.stem = run.steps.length;
      this.columns = [{ event: "", parts: [], states: run.initial, first: true }, ...run.steps, ...(run.cycle || [])];
      this.columns.forEach(column => column.acting = this.acting(column));
      this.cycle = (run.cycle || []).length;
      this.all = this.told.components.length <= MANY;
      this.step = 0;
      this.row = 0;
      this.canvas = make("div", { class: "canvas" });
      this.grid = make("div", { class: "grid", role: "grid", tabindex: "0", "aria-label": "components and steps",
        onscroll: () => this.later(), onkeydown: event => this.key(event), onclick: event => this.pick(event) }, this.canvas);
      this.slider = make("input", { type: "range", min: "0", max: String(this.columns.length - 1), "aria-label": "step",
        oninput: () => this.select(Number(this.slider.value), this.row) });
      this.where = make("output", {});
      const button = (text, label, act) => make("button", { type: "button", "aria-label": label, onclick: act }, text);
      const tools = make("div", { class: "tools" }, button("|◀", "first step", () => this.select(0, this.row)),
        button("◀", "previous step", () => this.move(-1)), button("▶", "next step", () => this.move(1)),
        button("▶|", "last step", () => this.select(this.columns.length - 1, this.row)), this.slider, this.where);
      if (this.told.components.length > MANY) {
        tools.append(make("label", {}, make("input", { type: "checkbox", onchange: event => { this.all = event.target.checked; this.layout(); } }),
          ` all ${count(this.told.components.length)} components`));
      }
      this.panel = make("section", { class: "step", "aria-live": "polite" });
      place.replaceChildren(tools, this.grid, this.panel);
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
      const before = column => this.columns[column - 1].states;
      this.columns.forEach((column, at) => {
        for (const component of column.acting.keys()) taking.add(component);
        if (at && !column.acting.size) column.states.forEach((state, part) => { if (state !== before(at)[part]) taking.add(part); });
      });
      const specification = this.specification();
      this.rows = [
        ...(specification ? [{ kind: "specification", name: specification.name }] : []),
        { kind: "whole", name: this.told.components.length > 1 ? "event" : this.told.process },
        ...this.told.components.map((name, component) => ({ kind: "component", name, component }))
          .filter(row => this.all || taking.has(row.component)),
      ];
      this.row = Math.min(this.row, this.rows.length - 1);
      this.headWidth = Math.min(220, Math.max(90, this.grid.clientWidth * 0.28 || 200));
      this.grid.style.setProperty("--headwidth", `${this.headWidth}px`);
      this.canvas.style.width = `${this.headWidth + this.columns.length * COLUMN}px`;
      this.canvas.style.height = `${(this.rows.length + 1) * ROW}px`;
      this.grid.setAttribute("aria-rowcount", this.rows.length + 1);
      this.grid.setAttribute("aria-colcount", this.columns.length);
      this.render();
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

    label(at) {
      return at === 0 ? "start" : at <= this.stem ? String(at) : `↻${at - this.stem}`;
    }

    cell(row, at) {
      const column = this.columns[at], last = at === this.columns.length - 1, finding = this.told.finding;
      const wrong = last && ["event", "forbidden", "fault"].includes(finding.kind);
      const classes = ["cell"];
      let own = "", state = "";
      if (row.kind === "whole") {
        own = column.first ? "" : column.short || column.event;
        if (this.told.components.length === 1) state = column.states[0] || "";
        if (wrong) classes.push("wrong");
      } else if (row.kind === "specification") {
        const visible = !column.first && !column.event.startsWith("τ");
        own = wrong ? "" : visible ? column.event : "";
        if (last) state = finding.kind === "event" ? `allows ${set(finding.allowed)}`
          : finding.kind === "acceptance" ? `accepts ${finding.allowed.map(set).join(" or ")}` : "";
        if (wrong) classes.push("wrong");
      } else {
        state = column.states[row.component] || "";
        const changed = at > 0 && state !== (this.columns[at - 1].states[row.component] || "");
        if (column.acting.has(row.component)) { classes.push("acts"); own = column.acting.get(row.component); }
        if (changed) classes.push("changed"); else if (at) classes.push("same");
      }
      if (at > this.stem) classes.push("repeats");
      if (at === this.step) classes.push("column");
      return { classes, own, state };
    }

    render() {
      const { scrollLeft, scrollTop, clientWidth, clientHeight } = this.grid;
      const wide = clientWidth || 900, high = clientHeight || 500;
      const first = Math.max(0, Math.floor(scrollLeft / COLUMN) - 1);
      const last = Math.min(this.columns.length - 1, Math.ceil((scrollLeft + wide) / COLUMN) + 1);
      const top = Math.max(0, Math.floor(scrollTop / ROW) - 2);
      const bottom = Math.min(this.rows.length - 1, Math.ceil((scrollTop + high) / ROW) + 1);
      const at = column => `left:${this.headWidth + column * COLUMN}px;width:${COLUMN}px`;
      const heads = [make("div", { class: "head", role: "rowheader" }, "step")];
      for (let column = first; column <= last; column += 1) {
        const classes = ["cell", column > this.stem ? "repeats" : "", column === this.step ? "column" : ""].join(" ");
        heads.push(make("div", { class: classes, role: "columnheader", style: at(column), "data-column": column, "aria-colindex": column + 1 },
          make("div", { class: "own" }, this.label(column)), make("div", { class: "state" }, this.place(column))));
      }
      const lines = [make("div", { class: "row top", role: "row", style: `height:${ROW}px` }, heads)];
      for (let number = top; number <= bottom; number += 1) {
        const row = this.rows[number];
        const cells = [make("div", { class: "head", role: "rowheader", title: row.name, "data-row": number }, row.name)];
        for (let column = first; column <= last; column += 1) {
          const { classes, own, state } = this.cell(row, column);
          const here = number === this.row && column === this.step;
          if (here) classes.push("here");
          cells.push(make("div", { class: classes.join(" "), role: "gridcell", style: at(column), title: own && state ? `${own}\n${state}` : own || state,
            id: here ? "here" : undefined, "aria-selected": here ? "true" : undefined, "aria-colindex": column + 1, "data-row": number, "data-column": column },
            make("div", { class: "own" }, own), make("div", { class: "state" }, state)));
        }
        lines.push(make("div", { class: `row ${row.kind}`, role: "row", "aria-rowindex": number + 2, style: `top:${(number + 1) * ROW}px;height:${ROW}px` }, cells));
      }
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

    key(event) {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const act = {
        ArrowLeft: () => this.move(-1), ArrowRight: () => this.move(1),
        ArrowUp: () => this.select(this.step, this.row - 1), ArrowDown: () => this.select(this.step, this.row + 1),
        PageUp: () => this.select(this.step - 10, this.row), PageDown: () => this.select(this.step + 10, this.row),
        Home: () => this.select(0, this.row), End: () => this.select(this.columns.length - 1, this.row),
        n: () => this.change(1), p: () => this.change(-1),
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
    }

    select(step, row) {
      this.step = Math.min(Math.max(step, 0), this.columns.length - 1);
      this.row = Math.min(Math.max(row, 0), this.rows.length - 1);
      this.slider.value = String(this.step);
      this.where.value = `step ${this.label(this.step)} of ${count(this.stem)}${this.cycle ? ` + ${count(this.cycle)} that repeat` : ""}`;
      const left = this.step * COLUMN, top = this.row * ROW;
      const wide = this.grid.clientWidth - this.headWidth, high = this.grid.clientHeight - ROW;
      if (left < this.grid.scrollLeft) this.grid.scrollLeft = left;
      else if (left + COLUMN > this.grid.scrollLeft + wide) this.grid.scrollLeft = left + COLUMN - wide;
      if (top < this.grid.scrollTop) this.grid.scrollTop = top;
      else if (top + ROW > this.grid.scrollTop + high) this.grid.scrollTop = top + ROW - high;
      this.render();
      this.tell();
      remember(this.one, this.step);
    }

    // The step that is selected, in full, with its places in the texts.
    tell() {
      const column = this.columns[this.step], names = this.told.components;
      const lines = [];
      const places = column.parts.map(part => ({ place: part.place, who: names[part.component] })).filter(one => one.place);
      if (!places.length && column.place) places.push({ place: column.place, who: "" });
      const before = this.step ? this.columns[this.step - 1].states : null;
      column.states.forEach((state, component) => {
        const acts = column.acting.get(component);
        if (before && state === before[component] && acts === undefined) return;
        if (!before && component >= MANY && !this.all) return;
        lines.push(make("dt", {}, names[component] || ""), make("dd", {}, acts && names.length > 1 ? make("div", {}, make("strong", {}, acts)) : null, make("code", {}, state)));
      });
      const last = this.step === this.columns.length - 1;
      const title = this.step === 0 ? "The start" : `Step ${this.label(this.step)}: `;
      this.panel.replaceChildren(make("h3", { style: "margin-top:0" }, title, this.step ? make("code", {}, column.event) : null),
        this.step > this.stem ? make("p", { class: "soft" }, "This step is part of the cycle that repeats forever.") : "",
        ...this.excerpts(places), make("dl", {}, lines), ...(last ? this.end() : []));
    }

    excerpts(places) {
      const shown = new Set();
      return places.map(({ place, who }) => {
        const key = `${place.file}:${place.line}`, text = data.sources[place.file];
        if (shown.has(key) || !place.line) return null;
        shown.add(key);
        const lines = text === undefined ? [] : text.split(/\r?\n/);
        const name = make("div", { class: "name" }, `${place.file}:${place.line}${place.column ? `:${place.column}` : ""}${who ? ` (${who})` : ""}`);
        const rows = [];
        for (let at = Math.max(1, place.line - EXCERPT); at <= Math.min(lines.length, place.line + EXCERPT); at += 1) {
          const letters = Array.from(lines[at - 1]), from = (place.column || 1) - 1;
          const marked = letters.slice(from).join("").split(/\s/)[0], rest = letters.slice(from).join("").slice(marked.length);
          const own = at === place.line ? [letters.slice(0, from).join(""), make("mark", {}, marked), rest] : [lines[at - 1]];
          rows.push(make("div", { class: at === place.line ? "text at" : "text" }, make("span", { class: "number" }, String(at)), ...own));
        }
        return make("div", { class: "excerpt" }, name, rows);
      }).filter(Boolean);
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
      : `${several(answer.visited_states, "state")}, ${several(answer.visited_transitions, "transition")}, ${several(answer.visited_plys, "level")}`);
    row("time", `${seconds(answer.check_seconds)} for the search, ${seconds(answer.compile_seconds)} for compiling`);
    if (answer.peak_memory_bytes) row("memory", `${bytes(answer.peak_memory_bytes)} at most${answer.store_bytes ? `, ${bytes(answer.store_bytes)} for states` : ""}`);
    if (answer.engine) row("engine", answer.engine + (answer.solver ? `, solver ${answer.solver}` : "") + (answer.algorithm ? `, ${answer.algorithm}` : ""));
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

  function symmetry(main, one) {
    const used = one.answer.symmetry, proved = data.symmetry[one.at][one.place];
    if (!used && !proved) return;
    const rows = [];
    const row = (name, ...values) => rows.push(make("dt", {}, name), make("dd", {}, values));
    const group = used || (proved && proved.group);
    if (!group && proved && proved.none) row("group", proved.none);
    else row("group", group ? `${group.structure}, of order ${group.order}${used ? "" : "; this search did not use it"}` : "only the identity");
    if (used) row("representatives", used.strategy + (used.total_states ? `; they stand for ${used.total_states} states` : ""));
    ((group && group.permuted) || []).forEach(part => row(`permuted ${part.datatype || part.kind.replace("_", " ")}`, part.names.slice(0, 60).join(", ") + (part.names.length > 60 ? ", …" : "")));
    const generators = (proved && (proved.generators || (proved.group && proved.group.generators))) || [];
    if (generators.length) row("generators", generators.slice(0, 40).map(text => make("div", {}, make("code", {}, text))));
    const reasons = proved ? [...(proved.reasons || []), ...(proved.types || []).flatMap(type => type.reasons || [])] : [];
    const words = reason => typeof reason === "string" ? reason : `${reason.reason}${reason.place && reason.place.line ? ` (line ${reason.place.line})` : ""}`;
    if (reasons.length) row("not larger because", reasons.slice(0, 30).map(reason => make("div", {}, words(reason))));
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

  // On paper: the steps of every counterexample as a list.
  function printed() {
    const sections = everything.filter(({ answer }) => answer.witness).map(one => {
      const told = one.answer.witness;
      const lists = told.runs.map(run => {
        const steps = [...run.steps, ...(run.cycle || [])];
        let before = run.initial;
        const items = steps.slice(0, PRINTED).map((step, at) => {
          const changed = step.states.map((state, part) => state !== before[part] ? `${told.components[part]}: ${state}` : "").filter(Boolean);
          before = step.states;
          const place = step.place && step.place.line ? ` (${step.place.file}:${step.place.line})` : "";
          return make("li", {}, make("code", {}, `${at >= run.steps.length ? "↻ " : ""}${step.event}`), place, changed.length ? make("div", { class: "soft" }, changed.join("; ")) : null);
        });
        return make("div", {}, make("ol", {}, items), steps.length > PRINTED ? make("p", {}, `… ${count(steps.length - PRINTED)} more`) : null);
      });
      return make("section", {}, make("h2", {}, `${one.run.file_name} ${one.answer.index}: `, verdict(one.answer), " ", make("code", {}, one.answer.assertion_string)),
        make("p", {}, data.sentences[one.at][one.place] || ""), lists);
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
})();
