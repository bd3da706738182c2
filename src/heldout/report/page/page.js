
"use strict";
/* Shared by all parts of the page: elements, theme, charts, copying, printing. Texts are always
   set as text, never as markup. */

/** Make an element: properties, then children (texts or elements). */
function make(tag, properties, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties || {})) {
    if (name in element && name !== "list") element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((one) => one !== null && one !== undefined));
  return element;
}

const byId = (name) => document.getElementById(name);
const parsed = (name) => (byId(name) ? JSON.parse(byId(name).textContent) : null);

/* Theme: that of the page if it was written dark, else that of the reader's system or last choice. */
const theme = {
  get dark() { return document.documentElement.dataset.theme === "dark"; },
  set(dark) {
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    byId("theme").textContent = dark ? "Light mode" : "Dark mode"; // what a click does
  },
};
const kept = {
  read() { try { return localStorage.getItem("heldout-theme"); } catch { return null; } },
  write(value) { try { localStorage.setItem("heldout-theme", value); } catch { /* not allowed */ } },
};

function startTheme() {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const own = document.documentElement.dataset.theme, wanted = own || kept.read();
  theme.set(wanted ? wanted === "dark" : system.matches);
  const button = byId("theme");
  button.hidden = false;
  button.addEventListener("click", () => {
    theme.set(!theme.dark);
    kept.write(theme.dark ? "dark" : "light");
    redraw();
  });
  system.addEventListener("change", () => {
    if (!own && !kept.read()) { theme.set(system.matches); redraw(); }
  });
}

/* Charts are drawn when they come into view, one by one, and again for another theme. Until then,
   and in print, a picture is there. */
const charts = { data: null, views: new Map(), wanted: new Set(), last: Promise.resolve() };

function watchCharts() {
  if (!charts.data || !window.vegaEmbed) return;
  const watcher = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      watcher.unobserve(target);
      draw(target.querySelector(".drawing"));
    }
  }, { rootMargin: "200px" });
  for (const figure of document.querySelectorAll(".chart")) watcher.observe(figure);
}

function draw(place) {
  charts.wanted.add(place);
  charts.last = charts.last.then(idle).then(() => drawOne(place));
}

const redraw = () => charts.wanted.forEach(draw);

const idle = () => new Promise((done) => {
  if (window.requestIdleCallback) requestIdleCallback(() => done(), { timeout: 400 });
  else setTimeout(done, 1);
});

const specOf = (place) => charts.data.parts[place.dataset.part][place.dataset.chart];

async function drawOne(place) {
  const name = theme.dark ? "dark" : "light", figure = place.parentElement;
  if (place.dataset.drawn === name) return;
  charts.views.get(place)?.finalize();
  place.hidden = false; // it has no width before
  // On a telephone names leave room for what is drawn.
  const room = 0.42 * place.clientWidth;
  const narrow = (key, value) => (key === "labelLimit" ? Math.min(value, room) : value);
  const copy = (content) => JSON.parse(JSON.stringify(content), narrow);
  const spec = specOf(place);
  try {
    const made = await vegaEmbed(place, copy(spec), {
      mode: "vega-lite",
      actions: false,
      ast: true, // interpret expressions: the content policy forbids eval
      config: { ...copy(charts.data.themes[name]), aria: false },
      defaultStyle: false,
      logLevel: 1, // errors
      renderer: "svg",
      tooltip: { disableDefaultStyle: true },
    });
    charts.views.set(place, made);
    describe(place.querySelector("svg"), spec.description || place.getAttribute("aria-label"));
    place.dataset.drawn = name;
    figure.classList.add("drawn");
    figure.querySelector(".tools").hidden = false;
  } catch (error) {
    place.textContent = `This chart could not be drawn: ${error.message}`;
    console.error(error);
  }
}

/** One picture with a description is better for screen readers than many marks without names. */
function describe(picture, words) {
  for (const part of picture.querySelectorAll("[role]")) {
    part.removeAttribute("role");
    part.removeAttribute("aria-roledescription");
  }
  picture.setAttribute("role", "img");
  picture.setAttribute("aria-label", words);
}

function save(name, kind, text) {
  const link = make("a", { href: URL.createObjectURL(new Blob([text], { type: kind })), download: name });
  link.click();
  URL.revokeObjectURL(link.href);
}

/** The rows behind a chart, as CSV. */
function chartRows(spec) {
  const inline = spec.data && spec.data.values;
  return inline || Object.values(spec.datasets || {}).flat();
}

function csvOf(rows) {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const cell = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [names, ...rows.map((row) => names.map((name) => row[name]))]
    .map((row) => row.map(cell).join(",")).join("\n") + "\n";
}

async function saveChart(button) {
  const figure = button.closest("figure");
  const place = figure.querySelector(".drawing");
  if (button.dataset.saves === "csv") save(`${figure.id}.csv`, "text/csv", csvOf(chartRows(specOf(place))));
  else save(`${figure.id}.svg`, "image/svg+xml", await charts.views.get(place).view.toSVG());
}

async function copyText(button) {
  const text = byId(button.dataset.copies);
  try {
    await navigator.clipboard.writeText(text.textContent);
    button.textContent = "Copied";
  } catch { // not allowed here: select the text, so that the reader can copy it
    getSelection().selectAllChildren(text);
    button.textContent = "Selected: press Ctrl+C";
  }
}

/* Printing: unfold what should be printed, and fold it again. */
const unfolded = [];
addEventListener("beforeprint", () => {
  for (const one of document.querySelectorAll("details[data-print]:not([open])")) {
    one.open = true;
    unfolded.push(one);
  }
});
addEventListener("afterprint", () => {
  while (unfolded.length) unfolded.pop().open = false;
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if (button.dataset.saves) saveChart(button);
  if (button.dataset.copies) copyText(button);
});

startTheme();
for (const button of document.querySelectorAll(".copy")) button.hidden = false;
charts.data = parsed("charts");
