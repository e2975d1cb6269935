// The focus is never lost when htmx replaces a part of the page. What had it is found again by its id (htmx does that),
// by what it does, or by its place: the same control of the row that came up, and else where the part says, or its heading.

import { find } from "./hub.js";

const FOCUSABLE = "a[href], button:not([disabled]), input:not([type=hidden], [disabled]), select, textarea, summary, [tabindex]";

export const rows = () => [...document.querySelectorAll("[data-row]")];
export const place = () => rows().findIndex((row) => row.classList.contains("here"));

/** Make one row the one that keys act on. */
export function stand(row) {
  document.querySelector("[data-row].here")?.classList.remove("here");
  row?.classList.add("here");
}

// Forms of one address differ by what they are about.
const about = (form) => ["id", "rule"].map((name) => form?.elements.namedItem(name)?.value);
const does = (element) => [element.tagName, element.getAttribute("href"), element.form?.getAttribute("action"), ...about(element.form), element.name, element.value].join(" ");
const key = (element) => element.dataset.key && `[data-key="${CSS.escape(element.dataset.key)}"]`;
const visible = (element) => element.checkVisibility() && !element.closest("[aria-hidden=true], dialog:not([open])");

let lost = null;

document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  const held = document.activeElement;
  const here = place();
  const mine = held && held !== document.body && detail.target.contains(held);
  const row = mine ? rows().findIndex((one) => one.contains(held)) : -1;
  lost = mine || here >= 0 ? { held: mine ? held : null, did: mine ? does(held) : "", row, here } : null;
});

document.addEventListener("htmx:afterSettle", ({ target }) => {
  if (!lost || target.closest("#toasts")) return;
  const { held, did, row, here } = lost;
  const all = rows();
  const queue = find("[data-queue]");
  if (here >= 0 && place() < 0 && (row >= 0 || queue)) stand(all[Math.min(here, all.length - 1)]);
  lost = null;
  const now = document.activeElement;
  if (!held || (now && now !== document.body)) return;
  const part = target.isConnected ? target : find("main");
  const again = [...part.querySelectorAll(FOCUSABLE)].find((one) => does(one) === did && visible(one));
  const beside = row >= 0 ? inRow(all[Math.min(row, all.length - 1)], held) : key(held) && part.querySelector(key(held));
  settle(again ?? (beside || heading(part)));
});

function inRow(row, held) {
  if (!row) return null;
  const same = key(held) && row.querySelector(key(held));
  const first = held.matches("a") ? row.querySelector("a[href]") : null;
  return [same, first, ...row.querySelectorAll(FOCUSABLE)].find((one) => one && visible(one));
}

function heading(part) {
  const found = part.querySelector("[data-lands]") ?? [...part.querySelectorAll("h1, h2, h3")].find(visible) ?? part;
  found.tabIndex = -1;
  return found;
}

function settle(element) {
  element.focus({ preventScroll: true });
  element.scrollIntoView({ block: "nearest" });
}
