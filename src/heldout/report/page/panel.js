
/* A dialog with one unit: its text, its values, and two rankings side by side. */
const panel = {
  dialog: null,

  show(explorer, at) {
    this.explorer = explorer;
    this.at = at;
    if (!this.dialog) this.build();
    this.fill();
    if (!this.dialog.open) this.dialog.showModal();
    this.title.focus();
  },

  build() {
    this.title = make("h3", { tabIndex: -1, id: "panel-title" });
    this.before = make("button", { type: "button" }, "← Previous");
    this.after = make("button", { type: "button" }, "Next →");
    this.close = make("button", { type: "button" }, "Close");
    this.body = make("div", { className: "panel-body" });
    const top = make("div", { className: "panel-top" }, this.title, this.before, this.after, this.close);
    this.dialog = make("dialog", {}, top, this.body);
    this.dialog.setAttribute("aria-labelledby", "panel-title");
    this.before.addEventListener("click", () => this.move(-1));
    this.after.addEventListener("click", () => this.move(1));
    this.close.addEventListener("click", () => this.dialog.close());
    this.dialog.addEventListener("click", (event) => { if (event.target === this.dialog) this.dialog.close(); });
    this.dialog.addEventListener("close", () => { this.explorer.go(this.at); this.explorer.focusRow(); });
    this.dialog.addEventListener("keydown", (event) => {
      if (event.target.closest("select, input")) return;
      if (event.key === "ArrowLeft") this.move(-1);
      if (event.key === "ArrowRight") this.move(1);
    });
    document.body.append(this.dialog);
  },

  move(step) {
    const at = this.at + step;
    if (at < 0 || at >= this.explorer.order.length) return;
    this.at = at;
    this.fill();
    this.dialog.scrollTop = 0;
  },

  fill() {
    const { explorer, at } = this, { data } = explorer, unit = explorer.order[at];
    const text = data.texts && data.texts[unit];
    this.title.textContent = `${data.noun[0]} ${data.units[unit]}`;
    this.before.disabled = at === 0;
    this.after.disabled = at === explorer.order.length - 1;
    const parts = [make("p", { className: "hint" }, `${data.noun[0][0].toUpperCase()}${data.noun[0].slice(1)} ${(at + 1).toLocaleString("en")} of ${explorer.order.length.toLocaleString("en")} in this order.`)];
    if (text) parts.push(make("p", { className: "query-text", dir: "auto" }, text));
    parts.push(this.values(unit), ...this.rankings(unit));
    this.body.replaceChildren(...parts);
  },

  values(unit) {
    const { explorer } = this, { data } = explorer, { measures, systems } = data;
    const head = ["system", ...measures.map((one) => one.name), ...(data.predicted ? ["predicted"] : [])];
    const rows = systems.map((name, at) => make("tr", {},
      make("th", { scope: "row" }, this.letter(at) + name),
      ...measures.map((_, which) => {
        const value = data.values[which][at][unit];
        return make("td", { title: `source: ${data.source}` }, value === null ? "—" : value.toFixed(4));
      }),
      data.predicted ? make("td", {}, data.predicted[at][unit]) : null));
    const truth = data.truth ? ` True value: ${data.truth[unit]}.` : "";
    const table = make("table", {},
      make("caption", {}, `Scores.${truth}`),
      make("thead", {}, make("tr", {}, ...head.map((words) => make("th", { scope: "col" }, words)))),
      make("tbody", {}, ...rows));
    return make("div", { className: "wide" }, table);
  },

  letter(system) {
    const { explorer } = this;
    if (explorer.alone) return "";
    return system === explorer.a ? "A: " : system === explorer.b ? "B: " : "";
  },

  /** Rankings are parsed when the first unit is opened: they are most of the page. */
  rankings(unit) {
    const { explorer } = this;
    explorer.ranked ??= parsed(`${explorer.name}-rankings`) ?? {};
    const found = explorer.ranked;
    if (!found.lists) return [];
    const shown = explorer.alone || explorer.a === explorer.b ? [explorer.a] : [explorer.a, explorer.b];
    const grades = new Map(found.grades && found.grades[unit]);
    const parts = [make("div", { className: "pair" }, ...shown.map((system) => this.list(unit, system, shown, grades)))];
    if (found.grades) parts.push(...this.missed(unit, shown, grades));
    if (!found.grades) parts.push(make("p", { className: "hint" }, "To show judgements, name the collection: heldout report … --collection NAME."));
    if (found.note) parts.push(make("p", { className: "hint" }, found.note));
    return parts;
  },

  list(unit, system, shown, grades) {
    const { ranked, data } = this.explorer, mine = ranked.lists[system][unit];
    const other = shown.find((one) => one !== system);
    const theirs = other === undefined ? null : ranked.lists[other][unit];
    const letter = system === this.explorer.a ? "B" : "A"; // of the other
    const items = mine.map((document_, at) => {
      const place = theirs ? theirs.indexOf(document_) : -1;
      const note = theirs === null ? null : make("span", { className: "other" }, place < 0 ? `not in the top ${ranked.top} of ${letter}` : `${letter}: ${place + 1}`);
      return this.item(`${at + 1}. `, document_, ranked.grades ? grades.get(document_) : null, note);
    });
    const head = make("h4", {}, this.letter(system) + data.systems[system]);
    return make("div", {}, head, items.length ? make("ol", { className: "ranked" }, ...items) : make("p", {}, "No documents."));
  },

  item(rank, number, grade, note) {
    const { documents, lines } = this.explorer.ranked, line = lines && lines[number];
    return make("li", {}, rank, make("span", { className: "id" }, documents[number]), " ", this.grade(grade), " ", note,
      line ? make("span", { className: "line", dir: "auto" }, line) : null);
  },

  grade(grade) {
    if (grade === null) return null;
    if (grade === undefined) return make("span", { className: "grade" }, "not judged");
    return make("span", { className: grade > 0 ? "grade relevant" : "grade" }, grade > 0 ? `relevant, grade ${grade}` : `grade ${grade}`);
  },

  /** Relevant documents that are in neither list. */
  missed(unit, shown, grades) {
    const { ranked } = this.explorer;
    const listed = new Set(shown.flatMap((system) => ranked.lists[system][unit]));
    const relevant = [...grades].filter(([, grade]) => grade > 0);
    const lost = relevant.filter(([one]) => !listed.has(one));
    const count = ranked.relevant[unit], found = count - (relevant.length - lost.length);
    const parts = [make("h4", {}, `Relevant documents in neither list: ${found} of ${count}`)];
    if (lost.length) parts.push(make("ul", { className: "ranked" }, ...lost.slice(0, 10).map(([one, grade]) => this.item("", one, grade, null))));
    return parts;
  },
};

for (const place of document.querySelectorAll("[data-explorer]")) new Explorer(place, place.dataset.explorer);
document.documentElement.dataset.ready = "yes";
watchCharts();
