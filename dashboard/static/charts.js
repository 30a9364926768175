// Draws every [data-chart] out of the inert JSON block it names. Figures name colours as var(--token) and so follow the theme.
"use strict";

// No mode bar: it covers the newest days, and one of its buttons offers to send the data away. A double click ends a zoom.
const CONFIG = { responsive: true, displayModeBar: false };
// A finger that drags across a chart means to scroll the page.
const TOUCH = matchMedia("(pointer: coarse)").matches;

// A custom property comes back unresolved from getComputedStyle; a real property of a real element does not.
function tokenReader() {
  const probe = document.createElement("span");
  probe.hidden = true;
  document.body.append(probe);
  const known = new Map();
  return {
    read(token) {
      if (!known.has(token)) {
        probe.style.color = token;
        known.set(token, getComputedStyle(probe).color);
      }
      return known.get(token);
    },
    close: () => probe.remove(),
  };
}

function resolved(value, tokens) {
  if (typeof value === "string") return value.startsWith("var(--") ? tokens.read(value) : value;
  if (Array.isArray(value)) return value.map((item) => resolved(item, tokens));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, resolved(item, tokens)]));
}

function draw(place, tokens) {
  const source = document.getElementById(place.dataset.chart);
  if (!source) return;
  const figure = resolved(JSON.parse(source.textContent), tokens);
  if (TOUCH) figure.layout.dragmode = false;
  figure.layout.font.family = getComputedStyle(document.body).fontFamily;
  Plotly.react(place, figure.data, figure.layout, CONFIG).then(() => {
    place.dataset.drawn = "";
    if (place.dataset.linked === undefined) followPoints(place);
  });
}

// A point's customdata is [words, address]. A number in a chart leads to its rows like any other number.
function followPoints(place) {
  place.dataset.linked = "";
  place.on("plotly_click", (event) => {
    const address = event.points[0]?.customdata?.[1];
    if (typeof address === "string" && address.startsWith("/") && !address.startsWith("//")) location.assign(address);
  });
}

function drawAll(root) {
  const tokens = tokenReader();
  for (const place of root.querySelectorAll("[data-chart]")) draw(place, tokens);
  tokens.close();
}

drawAll(document);
document.addEventListener("themechange", () => drawAll(document));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawAll(document));
document.addEventListener("htmx:afterSettle", (event) => drawAll(event.target));
