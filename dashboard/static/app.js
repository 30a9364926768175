// The theme button, menus that close, and a few keys. Everything works without this file, only less comfortably.
"use strict";

const THEMES = { auto: ["◐", "Theme: automatic"], light: ["○", "Theme: light"], dark: ["●", "Theme: dark"] };
const NEXT = { auto: "light", light: "dark", dark: "auto" };

function currentTheme() {
  return document.documentElement.dataset.theme || "auto";
}

function applyTheme(name) {
  if (name === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  try { localStorage.setItem("theme", name); } catch { /* storage refused: the choice lasts for this page */ }
  showTheme();
  document.dispatchEvent(new CustomEvent("themechange"));
}

function showTheme() {
  const [mark, word] = THEMES[currentTheme()];
  for (const button of document.querySelectorAll("[data-theme-toggle]")) {
    button.hidden = false;
    button.title = word;
    button.querySelector("[data-theme-mark]").textContent = mark;
    button.querySelector("[data-theme-word]").textContent = word;
  }
}

function closeMenus(except) {
  for (const menu of document.querySelectorAll("details[data-menu][open]")) if (menu !== except) menu.open = false;
}

function isTyping(target) {
  return target.closest("input, textarea, select, [contenteditable]") !== null;
}

// "/" goes to the page's search field, as on the sites people come from.
function onKey(event) {
  if (event.key === "Escape") closeMenus(null);
  const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
  const search = document.querySelector("[data-search]");
  if (event.key === "/" && plain && search && !isTyping(event.target)) {
    event.preventDefault();
    search.focus();
    search.select();
  }
}

function onClick(event) {
  if (event.target.closest("[data-theme-toggle]")) applyTheme(NEXT[currentTheme()]);
  closeMenus(event.target.closest("details[data-menu]"));
  const copy = event.target.closest("[data-copy]");
  if (copy) copyText(copy);
}

async function copyText(button) {
  const source = document.getElementById(button.dataset.copy);
  if (!source || !navigator.clipboard) return;
  await navigator.clipboard.writeText(source.value ?? source.textContent);
  button.textContent = "Copied";
}

showTheme();
// On a narrow screen the tabs scroll; the current one must not lie outside.
document.querySelector(".tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
document.addEventListener("click", onClick);
document.addEventListener("keydown", onKey);
