// Files dropped anywhere on the box go into the file field. The form works without this file.
"use strict";

for (const zone of document.querySelectorAll("[data-drop-zone]")) {
  const field = zone.querySelector("input[type=file]");
  const words = zone.querySelector("[data-drop-words]");
  words.textContent = "Drop files here, or choose them. With several files each is a log of one run.";

  zone.addEventListener("dragover", (event) => {
    event.preventDefault();
    zone.classList.add("drop-over");
  });
  zone.addEventListener("dragleave", (event) => {
    if (!zone.contains(event.relatedTarget)) zone.classList.remove("drop-over");
  });
  zone.addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("drop-over");
    if (event.dataTransfer.files.length) field.files = event.dataTransfer.files;
    if (field.files.length) words.textContent = [...field.files].map((file) => file.name).join(", ");
  });
}
