// Keys for lists and forms: j k o x e ?. Everything works without this file, by mouse and tabulator.
// A page takes part by marks: [data-row] with [data-open] in it, [data-edit] around the form that decides, a dialog #keys.
"use strict";

(() => {
  const rows = () => [...document.querySelectorAll("[data-row]")];
  const current = () => document.querySelector("[data-row].row-current");

  function typing(target) {
    return target instanceof Element && target.closest("input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable], dialog") !== null;
  }

  function go(row) {
    if (!row) return;
    current()?.classList.remove("row-current");
    row.classList.add("row-current");
    // The link takes the focus: the browser's own Enter, and what reads pages aloud, go with it.
    row.querySelector("[data-open]")?.focus({ preventScroll: true });
    row.scrollIntoView({ block: "nearest" });
  }

  function step(by) {
    const all = rows(), at = all.indexOf(current());
    go(all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + by, 0), all.length - 1)]);
  }

  function choose() {
    const box = current()?.querySelector("input[type=checkbox]");
    if (!box) return;
    box.checked = !box.checked;
    box.dispatchEvent(new Event("change", { bubbles: true }));
  }

  function edit() {
    const form = document.querySelector("[data-edit], #triage");
    const field = form?.querySelector("select, textarea");
    if (!field) return void current()?.querySelector("[data-open]")?.click();
    form.scrollIntoView({ block: "start" });
    field.focus({ preventScroll: true });
  }

  function help() {
    const dialog = document.getElementById("keys");
    if (dialog && !dialog.open) dialog.showModal();
  }

  const KEYS = { j: () => step(1), k: () => step(-1), o: () => current()?.querySelector("[data-open]")?.click(), x: choose, e: edit, "?": help };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target) || document.querySelector("dialog[open]")) return;
    const act = KEYS[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });

  // How many are chosen, and choosing one means the chosen ones.
  function count() {
    const number = document.querySelectorAll("[data-row] input[type=checkbox]:checked").length;
    for (const place of document.querySelectorAll("[data-chosen]")) place.textContent = number ? `(${number})` : "(none yet)";
  }
  document.addEventListener("change", (event) => {
    if (!(event.target instanceof Element) || !event.target.matches("[data-row] input[type=checkbox]")) return;
    count();
    const chosen = document.querySelector("[data-edit] input[name=scope][value=chosen]");
    if (chosen) chosen.checked = true;
  });
  count();
})();
