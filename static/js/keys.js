// Single keys for what buttons and links do. They act only outside fields and can be turned off (WCAG 2.1.4).
// A key is an attribute of what it presses (data-key), so this list and that of every page are the page itself.

import { find } from "./hub.js";
import { place, rows, stand } from "./focus.js";

const WITHIN = 1200;
const typing = (target) => target.closest("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]");
const isOn = () => document.body.dataset.shortcuts === "on";
const words = (element) => {
  const label = element.dataset.does || element.title || element.getAttribute("aria-label") || element.textContent;
  return label.replace(/\s+/g, " ").trim();
};

/** What keys do on this page now: for the row one stands on, else the first; then for the page. */
export function keysHere() {
  const row = find("[data-row].here") ?? find("[data-row]");
  const found = new Map();
  for (const within of [row, find("main"), document.body]) {
    for (const element of within?.querySelectorAll("[data-key]") ?? []) {
      const { key } = element.dataset;
      if (!found.has(key) && element.checkVisibility() && !element.closest("dialog")) found.set(key, element);
    }
  }
  return [...found].map(([key, element]) => ({ key, element, label: words(element) }));
}

function move(step) {
  const all = rows();
  if (!all.length) return;
  const next = all[Math.min(all.length - 1, Math.max(0, place() + step))] ?? all[0];
  stand(next);
  find("a", next)?.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
}

/** Press what has this key, first in the row one stands on. Whether there was something. */
function act(key) {
  const row = find("[data-row].here");
  const wanted = `[data-key="${CSS.escape(key)}"]`;
  const target = (row && find(wanted, row)) || find(`main ${wanted}`) || find(wanted);
  // What a row hides, such as approving the text as it was while it is being corrected, no key may do either.
  if (!target || (target.closest("[data-row]") && !target.checkVisibility())) return false;
  press(target);
  return true;
}

/** A field is written in; anything else is clicked. */
export function press(target) {
  target.matches("input:not([type=checkbox]), textarea") ? (target.focus(), target.select()) : target.click();
}

// Shift and x ticks every row from the one that was ticked last.
let ticked = -1;
function tickUpTo() {
  const all = rows();
  const now = place();
  if (now < 0 || ticked < 0) return act("x");
  for (const row of all.slice(Math.min(now, ticked), Math.max(now, ticked) + 1)) {
    const box = find('[data-key="x"]', row);
    if (box?.matches("input")) box.checked = true;
  }
  return true;
}

function showKeys() {
  const list = find("#keys-here");
  const entry = (keys, label) => {
    const [name, what] = [document.createElement("dt"), document.createElement("dd")];
    for (const key of keys) name.append(Object.assign(document.createElement("kbd"), { textContent: key }), " ");
    what.textContent = label;
    list.append(name, what);
  };
  list.replaceChildren();
  if (rows().length) entry(["j", "k"], "Next and previous line");
  if (find("[data-row] a[href]")) entry(["Enter"], "Open it");
  for (const { key, label } of keysHere()) entry([key === " " ? "Space" : key], label);
  if (find("main a[rel=prev], main a[rel=next]")) entry(["[", "]"], "Previous and next page");
  list.parentElement.hidden = !list.childElementCount;
  find("#shortcuts").showModal();
}

function leave(event) {
  const menu = find("details.menu[open]");
  if (menu) {
    menu.open = false;
    find("summary", menu).focus();
  } else if (typing(event.target)) event.target.blur();
  else for (const box of document.querySelectorAll(".tick input:checked")) box.checked = false;
}

let going = 0;
const plain = {
  j: () => move(1),
  k: () => move(-1),
  X: tickUpTo,
  "?": showKeys,
  "[": () => find("main a[rel=prev]")?.click(),
  "]": () => find("main a[rel=next]")?.click(),
};

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("dialog")) return;
  if (event.key === "Escape") return leave(event);
  if (typing(event.target) || !isOn()) return;
  // Space and Enter belong to what has the focus.
  if (event.key === "Enter" || (event.key === " " && event.target.closest("button, summary, input"))) return;

  const goes = Date.now() - going < WITHIN && find(`[data-go="${CSS.escape(event.key)}"]`);
  going = 0;
  if (goes) location.assign(goes.href);
  else if (event.key === "g") going = Date.now();
  else if (plain[event.key] && !find(`main [data-key="${CSS.escape(event.key)}"]`)) plain[event.key]();
  else if (!act(event.key)) return;
  if (event.key === "x") ticked = place();
  event.preventDefault();
});

// What a key opened is written in at once.
document.addEventListener("toggle", ({ target }) => target.open && target.matches(".edit") && find("textarea", target).focus(), true);
