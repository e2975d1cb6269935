// What HTML and htmx cannot say: toasts that fade, copy buttons, closing menus, keys. Every page works without it.

const page = document;
page.documentElement.classList.add("js");

const typing = (target) => target.closest("input, textarea, select, [contenteditable]");
const find = (selector, within = page) => within.querySelector(selector);

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
  toast.role = "alert";
  toast.dataset.fades = "";
  toast.append(Object.assign(page.createElement("p"), { textContent: text }));
  find("#toasts")?.append(toast);
  watchToasts();
}

// After a swap the count, a heading or a field's mistake is read out by the one polite live region.
function announce() {
  const told = find("[data-announce]");
  const live = find("#live");
  if (told && live && live.textContent !== told.dataset.announce) live.textContent = told.dataset.announce;
}

page.addEventListener("click", (event) => {
  const dismiss = event.target.closest("[data-dismiss]");
  if (dismiss) dismiss.closest(".toast").remove();

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

page.addEventListener("htmx:afterSwap", () => { watchToasts(); announce(); });
page.addEventListener("htmx:responseError", (event) => {
  const status = event.detail.xhr.status;
  if (status === 401 || status === 403) say("You may not do that, or you were signed out. Reload the page.");
  else if (status === 404) say("That is not there any more. Reload the page.");
  else say("The hub could not do that just now. Nothing was changed.");
});
page.addEventListener("htmx:sendError", () => say("The hub cannot be reached. Nothing was changed."));

// Keys. Single letters act only outside fields and can be turned off (WCAG 2.1.4).
const GO = { o: "/", m: "/memories/", r: "/review/", b: "/banks/", c: "/cleanup/", j: "/jobs/", a: "/agents/", k: "/keys/" };
let going = 0;

const rows = () => [...page.querySelectorAll("[data-row]")];
const place = () => rows().findIndex((row) => row.classList.contains("here"));

function move(step) {
  const all = rows();
  if (!all.length) return;
  const now = place();
  const next = all[Math.min(all.length - 1, Math.max(0, now + step))] ?? all[0];
  all[now]?.classList.remove("here");
  next.classList.add("here");
  find("a", next)?.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
}

// In a queue the next one takes the place of what was decided, so that a hand can stay on the keys.
let stood = -1;
page.addEventListener("htmx:beforeSwap", () => { stood = find("[data-queue]") ? place() : -1; });
page.addEventListener("htmx:afterSettle", () => {
  if (stood >= 0 && find("[data-queue]") && place() < 0) move(stood + 1);
  stood = -1;
});
// What a key opened is written in at once.
page.addEventListener("toggle", ({ target }) => target.open && target.matches(".edit") && find("textarea", target).focus(), true);

function act(key) {
  const row = find("[data-row].here");
  const target = (row && find(`[data-key="${key}"]`, row)) || find(`main [data-key="${key}"]`) || find(`[data-key="${key}"]`);
  // What a row hides, such as approving the text as it was while it is being corrected, no key may do either.
  if (!target || (target.closest("[data-row]") && !target.checkVisibility())) return false;
  target.matches("input:not([type=checkbox]), textarea") ? (target.focus(), target.select()) : target.click();
  return true;
}

page.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") {
    for (const menu of page.querySelectorAll("details.menu[open]")) {
      menu.open = false;
      find("summary", menu).focus();
    }
    if (typing(event.target)) event.target.blur();
    return;
  }
  if (typing(event.target) || event.target.closest("dialog") || page.body.dataset.shortcuts !== "on") return;

  if (Date.now() - going < 1200 && GO[event.key]) location.assign(GO[event.key]);
  else if (event.key === "g") going = Date.now();
  else if (event.key === "j") move(1);
  else if (event.key === "k") move(-1);
  else if (event.key === "?") find("#shortcuts")?.showModal();
  else if (!act(event.key)) return;
  event.preventDefault();
});

// A strip of tabs scrolls sideways; the chosen one must not be out of sight.
function showChosenTab() {
  find(".tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
}
page.addEventListener("htmx:afterSettle", showChosenTab);
showChosenTab();

watchToasts();
