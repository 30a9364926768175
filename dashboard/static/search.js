// Suggestions under the search field, as a combobox. The search works without this file; the words stand in a table below it.
"use strict";

(() => {
  const box = document.querySelector("[data-complete]");
  if (!box) return;
  const input = box.querySelector("input"), list = box.querySelector("[role=listbox]");
  const WAIT = 120;
  let timer = 0, asked = 0, start = 0, picked = -1;

  Object.entries({ role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": list.id })
    .forEach(([name, value]) => input.setAttribute(name, value));

  const options = () => [...list.children];

  function close() {
    list.hidden = true;
    picked = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }

  function pick(place) {
    const all = options();
    picked = (place + all.length) % all.length;
    all.forEach((one, number) => one.setAttribute("aria-selected", String(number === picked)));
    input.setAttribute("aria-activedescendant", all[picked].id);
    all[picked].scrollIntoView({ block: "nearest" });
  }

  function take(text) {
    const rest = input.value.slice(input.selectionStart ?? input.value.length);
    const blank = text.endsWith(":") ? "" : " ";
    input.value = input.value.slice(0, start) + text + blank + rest.trimStart();
    const cursor = start + text.length + blank.length;
    input.setSelectionRange(cursor, cursor);
    input.focus();
    if (blank) close(); else ask();
  }

  function show(found) {
    start = found.start;
    list.replaceChildren(...found.suggestions.map((one, number) => {
      const option = document.createElement("li");
      option.id = `suggestion-${number}`;
      option.setAttribute("role", "option");
      option.setAttribute("aria-selected", "false");
      const text = document.createElement("code");
      text.textContent = one.text;
      option.append(text);
      if (one.help) {
        const help = document.createElement("span");
        help.textContent = one.help;
        option.append(" ", help);
      }
      // Before the field loses the focus.
      option.addEventListener("mousedown", (event) => { event.preventDefault(); take(one.text); });
      return option;
    }));
    picked = -1;
    input.removeAttribute("aria-activedescendant");
    list.hidden = !found.suggestions.length;
    input.setAttribute("aria-expanded", String(!list.hidden));
  }

  async function ask() {
    const number = ++asked;
    const typed = input.value.slice(0, input.selectionStart ?? input.value.length);
    try {
      const answer = await fetch(`${box.dataset.complete}?${new URLSearchParams({ q: typed })}`, { headers: { Accept: "application/json" } });
      if (number !== asked || document.activeElement !== input) return;
      if (answer.ok) show(await answer.json()); else close();
    } catch { close(); }
  }

  input.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(ask, WAIT); });
  input.addEventListener("blur", () => { clearTimeout(timer); asked += 1; close(); });
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" && list.hidden) { event.preventDefault(); ask(); return; }
    if (list.hidden) return;
    if (event.key === "Escape") { event.preventDefault(); event.stopPropagation(); close(); }
    if (event.key === "ArrowDown" || event.key === "ArrowUp") { event.preventDefault(); pick(picked + (event.key === "ArrowDown" ? 1 : picked < 0 ? 0 : -1)); }
    if ((event.key === "Enter" || event.key === "Tab") && picked >= 0) { event.preventDefault(); take(options()[picked].querySelector("code").textContent); }
  });
})();
