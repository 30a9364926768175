// What a rule would hide, asked again while it is typed. Without this file the button under the rule does the same.
"use strict";

const WAIT = 400; // milliseconds without a key
const ASKED = ["csrfmiddlewaretoken", "tool", "rule", "lanes", "signature"]; // what the reach hangs on

for (const form of document.querySelectorAll("form[data-preview]")) watch(form);

function watch(form) {
  const box = form.querySelector("[data-preview-box]");
  const said = form.querySelector("[data-preview-said]");
  let shown = asked(form).toString();
  let timer = 0;
  let asking = new AbortController();

  form.addEventListener("input", (event) => {
    if (!ASKED.includes(event.target.name)) return;
    // An answer on its way is about an older text.
    asking.abort();
    clearTimeout(timer);
    const wanted = asked(form).toString();
    box.setAttribute("aria-busy", String(wanted !== shown));
    if (wanted !== shown) timer = setTimeout(() => fetchReach(wanted), WAIT);
  });

  async function fetchReach(wanted) {
    const mine = asking = new AbortController();
    const found = await answer(form.dataset.preview, wanted, mine.signal);
    if (mine.signal.aborted) return;
    for (const old of form.querySelectorAll("[data-preview-gone]")) old.remove();
    box.replaceChildren(found);
    box.setAttribute("aria-busy", "false");
    shown = wanted;
    said.textContent = box.querySelector("[role=alert], .reach-sums")?.textContent ?? "";
  }
}

function asked(form) {
  return new URLSearchParams([...new FormData(form)].filter(([name]) => ASKED.includes(name)));
}

// The server's part of the page, or a sentence that says why there is none. A login page is no answer.
async function answer(address, wanted, signal) {
  const headers = { "Content-Type": "application/x-www-form-urlencoded" };
  try {
    const got = await fetch(address, { method: "POST", headers, body: wanted, signal, redirect: "manual" });
    if (got.ok) return document.createRange().createContextualFragment(await got.text());
  } catch { /* the connection broke, or the text was changed meanwhile */ }
  const fault = document.createElement("p");
  fault.className = "error";
  fault.role = "alert";
  fault.textContent = "The server did not say what it would hide. The button below asks again.";
  return fault;
}
