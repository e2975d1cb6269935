// The palette as a dialog: arrows choose among what the server found, Enter opens it, the focus stays in the field.
// What can be done on this page with a key stands above it.

import { find } from "./hub.js";
import { keysHere, press } from "./keys.js";

const field = find("#palette-q");
const dialog = find("#command");
const list = () => find("#palette");
const entries = () => [...list().querySelectorAll(".entry")];

function choose(index) {
  const all = entries();
  for (const one of all) one.setAttribute("aria-selected", "false");
  const chosen = all[(index + all.length) % all.length];
  chosen?.setAttribute("aria-selected", "true");
  chosen?.scrollIntoView({ block: "nearest" });
  field.setAttribute("aria-activedescendant", chosen?.id ?? "");
}
const chosen = () => entries().findIndex((one) => one.ariaSelected === "true");

/** What a person may do here: shown only on top of a page, where it can be done. */
function pageActions() {
  const asked = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  const begins = (label) => asked.every((word) => ` ${label.toLowerCase()}`.includes(` ${word}`));
  return dialog ? keysHere().filter(({ key, label, element }) => key !== "/" && begins(label) && !element.closest("[data-row]:not(.here)")) : [];
}

function showPageActions() {
  const found = pageActions();
  if (!found.length) return;
  const group = Object.assign(document.createElement("div"), { role: "group", ariaLabel: "On this page" });
  const label = Object.assign(document.createElement("p"), { className: "label", textContent: "On this page" });
  label.ariaHidden = "true";
  group.append(label);
  for (const { key, element, label: text } of found) {
    const entry = Object.assign(document.createElement("button"), { className: "entry", type: "button" });
    const name = Object.assign(document.createElement("span"), { className: "name", textContent: text });
    const hint = Object.assign(document.createElement("span"), { className: "keys", ariaHidden: "true" });
    hint.append(Object.assign(document.createElement("kbd"), { textContent: key === " " ? "Space" : key }));
    entry.append(name, hint);
    entry.addEventListener("click", () => { dialog.close(); press(element); });
    group.append(entry);
  }
  list().prepend(group);
}

// As the combobox pattern wants it; without this script the same list is links and buttons.
function dress() {
  showPageActions();
  list().role = "listbox";
  list().ariaLabel = "Results";
  entries().forEach((one, index) => Object.assign(one, { role: "option", id: `entry-${index}`, tabIndex: -1 }));
  choose(0);
}

const PAUSE = 120;
let typed = 0;
/** A new question takes the place of one that is still on its way (hx-sync of the field). */
function ask() {
  const url = `${field.form.getAttribute("action")}?q=${encodeURIComponent(field.value)}`;
  window.htmx.ajax("GET", url, { source: field, target: "#palette", swap: "outerHTML" });
}

if (field) {
  field.addEventListener("input", () => { clearTimeout(typed); typed = setTimeout(ask, PAUSE); });
  Object.assign(field, { role: "combobox", ariaExpanded: "true", ariaAutoComplete: "list" });
  field.setAttribute("aria-controls", "palette");
  if (!dialog) dress();

  document.addEventListener("htmx:afterSettle", ({ target }) => { if (target.id === "palette") dress(); });
  field.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[event.key];
    if (step) choose(chosen() + step);
    else if (event.key === "Enter" && entries()[chosen()]) entries()[chosen()].click();
    else return;
    event.preventDefault();
  });
}

function open() {
  if (!dialog) return field?.select();
  if (!dialog.open) dialog.showModal();
}
if (dialog) {
  // However it was opened: by the key or by the button.
  dialog.addEventListener("toggle", () => {
    if (!dialog.open) return;
    field.select();
    ask();
  });
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
}

document.addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() !== "k" || event.shiftKey || event.altKey || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  dialog?.open ? dialog.close() : open();
});
