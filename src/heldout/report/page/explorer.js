
/* The table of all units: only the visible rows are in the document. */
const ROW = 52; // pixels; as in page.css
const MARGIN = 8; // rows above and below the visible ones
const PRINTED = 25;

class Explorer {
  constructor(place, name) {
    this.name = name;
    this.place = place;
    this.data = parsed(`${name}-data`);
    this.measure = 0;
    this.a = this.data.first;
    this.b = this.data.second;
    this.sort = this.alone ? { key: `s${this.a}`, down: true } : { key: "gap", down: true };
    this.all = false;
    this.current = 0;
    this.lower = this.data.units.map((unit, at) =>
      `${unit}\n${this.data.texts ? this.data.texts[at] : ""}`.toLowerCase());
    this.build();
    this.refresh();
  }

  get alone() { return this.data.systems.length < 2; }
  get up() { return this.data.measures[this.measure].up; }
  value(system, unit) { return this.data.values[this.measure][system][unit]; }

  /** B minus A; null if one of them has no value. */
  gap(unit) {
    const a = this.value(this.a, unit), b = this.value(this.b, unit);
    return a === null || b === null ? null : b - a;
  }

  /** 1: B is better, -1: A is better, 0: neither. */
  winner(unit) {
    const gap = this.gap(unit);
    if (gap === null || Math.abs(gap) < 5e-7) return 0;
    return (gap > 0) === this.up ? 1 : -1;
  }

  build() {
    this.controls = make("div", { className: "controls", role: "search" });
    this.count = make("p", { className: "hint", role: "status" });
    this.table = make("table", {});
    this.scroller = make("div", { className: "scroller", tabIndex: -1 }, this.table);
    this.place.append(this.controls, this.count, this.scroller, this.printed = make("p", { className: "hint", hidden: true }));
    this.buildControls();
    this.scroller.addEventListener("scroll", () => this.later());
    this.scroller.addEventListener("keydown", (event) => this.key(event));
    this.scroller.addEventListener("click", (event) => {
      const row = event.target.closest("tr[data-at]");
      if (row) this.open(Number(row.dataset.at));
    });
    addEventListener("resize", () => this.later());
    addEventListener("beforeprint", () => { this.printing = true; this.rows(); });
    addEventListener("afterprint", () => { this.printing = false; this.rows(); });
  }

  labelled(words, control, kind) {
    control.id = `${this.name}-control-${this.controls.childElementCount}`;
    const label = make("label", { htmlFor: control.id }, words);
    this.controls.append(make("div", { className: kind || "field" }, ...(kind ? [control, label] : [label, control])));
    return control;
  }

  choice(words, options, chosen, change) {
    const select = make("select", {}, ...options.map((text, at) => make("option", { value: at, selected: at === chosen }, text)));
    select.addEventListener("change", () => { change(Number(select.value)); this.refresh(); });
    return this.labelled(words, select);
  }

  buildControls() {
    const { systems, measures, noun } = this.data;
    this.search = this.labelled(`Search ${noun[1]}`, make("input", { type: "search" }));
    this.search.addEventListener("input", () => this.refresh());
    if (measures.length > 1) this.choice("Measure", measures.map((one) => one.name), 0, (at) => { this.measure = at; });
    if (this.alone) return;
    this.choice("A", systems, this.a, (at) => { this.a = at; });
    this.choice("B", systems, this.b, (at) => { this.b = at; });
    this.filter = this.choice("Show", ["all", "B better", "A better", "equal"], 0, () => {});
    this.least = this.labelled("Minimum difference", make("input", { type: "number", min: 0, step: "any", value: "" }));
    this.least.addEventListener("input", () => this.refresh());
    if (systems.length > 2) {
      const box = make("input", { type: "checkbox" });
      box.addEventListener("change", () => { this.all = box.checked; this.refresh(); });
      this.labelled("All systems", box, "tick");
    }
  }

  /** Whether a unit passes the filters. */
  wanted(unit, words, filter, least) {
    if (words.some((word) => !this.lower[unit].includes(word))) return false;
    if (this.alone) return true;
    const wins = this.winner(unit);
    if (filter === 1 && wins !== 1 || filter === 2 && wins !== -1 || filter === 3 && wins !== 0) return false;
    return !(least > 0) || Math.abs(this.gap(unit) ?? 0) >= least;
  }

  /** Search, filter and sort again. */
  refresh() {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const filter = this.filter ? Number(this.filter.value) : 0;
    const least = this.least ? Number(this.least.value) : 0;
    this.order = [];
    for (let unit = 0; unit < this.data.units.length; unit++) {
      if (this.wanted(unit, words, filter, least)) this.order.push(unit);
    }
    this.sorted();
    this.columns();
    this.scroller.scrollTop = 0;
    this.current = 0;
    this.rows();
    this.say();
  }

  sorted() {
    const sign = this.sort.down ? -1 : 1;
    if (this.sort.key === "unit") {
      const by = new Intl.Collator("en", { numeric: true }).compare;
      this.order.sort((x, y) => sign * by(this.data.units[x], this.data.units[y]));
      return;
    }
    const of = this.sort.key === "gap" ? (unit) => this.gap(unit) : (unit) => this.value(Number(this.sort.key.slice(1)), unit);
    const keys = new Map(this.order.map((unit) => [unit, of(unit)]));
    this.order.sort((x, y) => {
      const one = keys.get(x), other = keys.get(y);
      if (one === null || other === null) return (one === null) - (other === null) || x - y; // last
      return sign * (one - other) || x - y;
    });
  }

  say() {
    const all = this.data.units.length, { noun, systems } = this.data;
    const shown = `${this.order.length.toLocaleString("en")} of ${all.toLocaleString("en")} ${noun[1]}`;
    if (this.alone) { this.count.textContent = `${shown}.`; return; }
    const wins = [0, 0, 0];
    for (const unit of this.order) wins[this.winner(unit) + 1]++;
    this.count.textContent = `${shown}; ${systems[this.b]} better on ${wins[2]}, ${systems[this.a]} better on ${wins[0]}, equal on ${wins[1]}.`;
  }

  get shownSystems() {
    if (this.alone) return [this.a];
    const chosen = [this.a, this.b];
    return this.all ? [...chosen, ...this.data.systems.keys()].filter((one, at, every) => every.indexOf(one) === at) : chosen;
  }

  columns() {
    const { noun, systems } = this.data, list = [["unit", noun[0], "what", ""]];
    if (!this.alone) list.push(["gap", "B − A", "gapped", `${systems[this.b]} minus ${systems[this.a]}`]);
    for (const at of this.shownSystems) {
      const letter = this.alone ? "" : at === this.a ? "A: " : at === this.b ? "B: " : "";
      list.push([`s${at}`, letter + systems[at], "number", `${systems[at]}: ${this.data.source}`]);
    }
    this.width = list.length;
    const head = make("tr", { "aria-rowindex": 1 }, ...list.map(([key, words, , hint]) => this.headCell(key, words, hint)));
    const group = make("colgroup", {}, ...list.map(([, , kind]) => make("col", { className: kind })));
    this.body = make("tbody", {});
    this.table.replaceChildren(
      make("caption", { className: "hint" }, `${this.data.measures[this.measure].name} of each ${noun[0]}`),
      group, make("thead", {}, head), this.body);
    this.table.style.minWidth = `${Math.max(0, list.length - 4) * 7.5 + (innerWidth > 640 ? 44 : 20)}rem`;
    this.table.setAttribute("aria-rowcount", this.order.length + 1);
  }

  headCell(key, words, hint) {
    const mine = this.sort.key === key, arrow = mine ? (this.sort.down ? " ↓" : " ↑") : "";
    const button = make("button", { type: "button", title: hint }, words + arrow);
    button.addEventListener("click", () => {
      this.sort = { key, down: mine ? !this.sort.down : key !== "unit" };
      this.refresh();
      this.table.querySelector(`th[data-key="${key}"] button`).focus();
    });
    const cell = make("th", { scope: "col", "data-key": key }, button);
    cell.setAttribute("aria-sort", mine ? (this.sort.down ? "descending" : "ascending") : "none");
    return cell;
  }

  later() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.rows(); });
  }

  /** Put the visible rows into the table. */
  rows() {
    const total = this.order.length, height = this.scroller.clientHeight || 600;
    const first = this.printing ? 0 : Math.max(0, Math.floor(this.scroller.scrollTop / ROW) - MARGIN);
    const last = this.printing ? Math.min(total, PRINTED) : Math.min(total, first + Math.ceil(height / ROW) + 2 * MARGIN);
    const focused = this.body.contains(document.activeElement);
    const made = [];
    for (let at = first; at < last; at++) made.push(this.row(at));
    this.body.replaceChildren(this.space(first), ...made, this.space(this.printing ? 0 : total - last));
    if (!total) this.body.replaceChildren(make("tr", {}, make("td", { colSpan: this.width }, `No ${this.data.noun[1]} match.`)));
    if (focused) this.focusRow(true);
    this.printed.hidden = !(this.printing && total > PRINTED);
    this.printed.textContent = `The first ${PRINTED} of ${total.toLocaleString("en")} ${this.data.noun[1]} in this order.`;
  }

  space(rows) {
    const cell = make("td", { colSpan: this.width });
    cell.style.height = `${Math.max(0, rows) * ROW}px`;
    const row = make("tr", { className: "gap", hidden: rows <= 0 }, cell);
    row.setAttribute("aria-hidden", "true");
    return row;
  }

  row(at) {
    const unit = this.order[at], text = this.data.texts && this.data.texts[unit];
    const open = make("button", { type: "button", className: "open", tabIndex: at === this.current ? 0 : -1 }, this.data.units[unit]);
    const row = make("tr", { "data-at": at, "aria-rowindex": at + 2 },
      make("th", { scope: "row", title: text || this.data.units[unit] }, open, text ? make("span", { className: "said", dir: "auto" }, text) : this.told(unit)));
    if (!this.alone) row.append(this.gapCell(unit));
    for (const system of this.shownSystems) row.append(this.cell(system, unit));
    return row;
  }

  told(unit) {
    return this.data.truth ? make("span", { className: "said" }, `true: ${this.data.truth[unit]}`) : null;
  }

  cell(system, unit) {
    const value = this.value(system, unit);
    const said = this.data.predicted ? make("span", { className: "said" }, this.data.predicted[system][unit]) : null;
    const shown = value === null ? "—" : value.toFixed(4);
    return make("td", { title: value === null ? "no value" : `${this.data.systems[system]}, ${this.data.units[unit]}: ${value}\nsource: ${this.data.source}` }, shown, said);
  }

  gapCell(unit) {
    const gap = this.gap(unit);
    if (gap === null) return make("td", {}, "—");
    const kind = Math.abs(gap) < 5e-7 ? "" : gap > 0 ? "up" : "down";
    const bar = make("i", { className: kind });
    bar.style.width = `${Math.min(50, 50 * Math.abs(gap) / this.largest())}%`;
    const words = (kind === "up" ? "+" : kind === "down" ? "−" : "") + Math.abs(gap).toFixed(4);
    const line = make("span", { className: "bar" }, bar);
    line.setAttribute("aria-hidden", "true");
    return make("td", {}, make("span", { className: kind }, words), line);
  }

  /** The largest difference, which has the longest bar. */
  largest() {
    const key = `${this.measure},${this.a},${this.b}`;
    if (this.scaled !== key) {
      this.scaled = key;
      this.scale = 1e-9;
      for (let unit = 0; unit < this.data.units.length; unit++) this.scale = Math.max(this.scale, Math.abs(this.gap(unit) ?? 0));
    }
    return this.scale;
  }

  key(event) {
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / ROW) - 2);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (!(event.key in steps) || !event.target.closest("tbody")) return;
    event.preventDefault();
    this.go(this.current + steps[event.key]);
    this.focusRow();
  }

  /** Make a row the current one and scroll to it. */
  go(at) {
    this.current = Math.min(this.order.length - 1, Math.max(0, at));
    const head = this.table.tHead.offsetHeight + this.table.caption.offsetHeight;
    const top = this.current * ROW, low = this.scroller.scrollTop, high = low + this.scroller.clientHeight - head - ROW;
    if (top < low) this.scroller.scrollTop = top;
    else if (top > high) this.scroller.scrollTop = top - (high - low);
    this.rows();
  }

  focusRow(quiet) {
    const row = this.body.querySelector(`tr[data-at="${this.current}"] .open`);
    if (row) row.focus({ preventScroll: true });
    else if (quiet) this.scroller.focus({ preventScroll: true }); // it is not visible
  }

  open(at) {
    this.go(at);
    for (const row of this.body.querySelectorAll("tr")) row.classList.toggle("current", row.dataset.at === String(at));
    panel.show(this, at);
  }
}
