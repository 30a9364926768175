// A draft of grounds goes into the form beside it, behind what stands there already. Without this file its link loads the page with it.
"use strict";

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-draft]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  for (const [name, text] of new URL(link.href).searchParams) addTo(document.getElementById(`id_${name}`), text);
  document.getElementById("id_reason").focus();
});

function addTo(field, text) {
  const there = field.value.trimEnd();
  const fresh = text.split("\n").filter((line) => !there.split("\n").includes(line));
  field.value = [there, ...fresh].filter(Boolean).join("\n");
}
