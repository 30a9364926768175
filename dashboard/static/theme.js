// Runs before the first paint, so it stands alone in <head> and is not deferred: a page must not flash in the other theme.
"use strict";
(() => {
  let chosen = null;
  try { chosen = localStorage.getItem("theme"); } catch { /* storage refused: the system's choice holds */ }
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
})();
