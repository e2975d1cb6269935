// What HTML and htmx cannot say: toasts that fade, copy buttons, menus that close, one voice for screen readers.
// Every page works without it, and without focus.js, keys.js and palette.js beside it.

const page = document;
page.documentElement.classList.add("js");

export const find = (selector, within = page) => within.querySelector(selector);

// Toasts: plain ones leave after a while unless somebody is reading them; those with Undo stay.
const FADES_AFTER = 7000;
function watchToasts() {
  for (const toast of page.querySelectorAll(".toast[data-fades]:not([data-watched])")) {
    toast.dataset.watched = "";
    const leave = () => (toast.matches(":hover, :focus-within") ? setTimeout(leave, FADES_AFTER) : toast.remove());
    setTimeout(leave, FADES_AFTER);
  }
}
function say(text) {
  const toast = page.createElement("div");
  toast.className = "toast";
  toast.dataset.fades = "";
  toast.append(Object.assign(page.createElement("p"), { textContent: text }));
  find("#toasts")?.append(toast);
  watchToasts();
}

// One polite live region holds the toasts and, unseen, what a part that changed wants told: a count, a state. What is the
// same is not said again, and a part that renews itself speaks at most every five seconds.
const BETWEEN = 5000;
let told = 0;
let waiting = 0;
function announce(part) {
  const here = part.matches("[data-announce]") ? part : find("[data-announce]", part);
  const live = find("#live");
  const text = here?.dataset.announce;
  if (!live || !text) return;
  clearTimeout(waiting);
  const rest = here.matches("[hx-trigger^=every]") ? told + BETWEEN - Date.now() : 0;
  waiting = setTimeout(() => {
    if (live.textContent !== text) live.textContent = text;
    told = Date.now();
  }, Math.max(rest, 0));
}

page.addEventListener("click", (event) => {
  const dismiss = event.target.closest("[data-dismiss]");
  if (dismiss) dismiss.closest(".toast").remove();

  // A dialog opens on top of the page; without this script its opener is a link to the same thing.
  const opener = event.target.closest("[data-opens]");
  if (opener && find(`#${opener.dataset.opens}`)) {
    event.preventDefault();
    find(`#${opener.dataset.opens}`).showModal();
  }

  const copy = event.target.closest("[data-copy]");
  if (copy) copyText(copy);

  for (const menu of page.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});

page.addEventListener("change", ({ target }) => {
  if (!target.matches("[data-all]")) return;
  for (const box of page.querySelectorAll(".tick [name]")) box.checked = target.checked;
});

async function copyText(button) {
  const source = find(button.dataset.copy);
  const label = find("[data-label]", button) ?? button;
  try {
    await navigator.clipboard.writeText(source.textContent.trim());
    label.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(source); // Without a secure context there is no clipboard; select it instead.
    label.textContent = "Selected";
  }
}

page.addEventListener("htmx:afterSettle", ({ target }) => {
  watchToasts();
  announce(target);
});
// A part that brings no news, such as one that renews itself, does not take away an Undo that is still offered.
page.addEventListener("htmx:oobBeforeSwap", ({ detail }) => {
  if (detail.target.id === "toasts" && !find(".toast", detail.fragment)) detail.shouldSwap = false;
});
page.addEventListener("htmx:responseError", (event) => {
  const status = event.detail.xhr.status;
  if (status === 401 || status === 403) say("You may not do that, or you were signed out. Reload the page.");
  else if (status === 404) say("That is not there any more. Reload the page.");
  else say("The hub could not do that just now. Nothing was changed.");
});
page.addEventListener("htmx:sendError", () => say("The hub cannot be reached. Nothing was changed."));

// A strip of tabs scrolls sideways; the chosen one must not be out of sight.
function showChosenTab() {
  const tab = find(".tabs [aria-current]");
  const strip = tab?.closest(".tabs");
  if (strip) strip.scrollLeft = tab.offsetLeft - strip.offsetLeft - (strip.clientWidth - tab.offsetWidth) / 2;
}
page.addEventListener("htmx:afterSettle", showChosenTab);
showChosenTab();

watchToasts();
// The news a page was opened with are put there once more: a live region tells only what comes after it.
const arrived = find("#toasts");
if (arrived?.childElementCount) setTimeout(() => arrived.replaceChildren(...arrived.children), 300);
