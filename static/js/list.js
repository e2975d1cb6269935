// With "select all matching" every row is ticked, and those unticked afterwards are sent along as left out.

document.addEventListener("change", ({ target }) => {
  if (!target.matches('#bulk [name="all"]') || !target.checked) return;
  for (const box of document.querySelectorAll('.tick [name="id"]')) box.checked = true;
});

document.addEventListener("submit", ({ target }) => {
  if (target.id !== "bulk") return;
  for (const old of target.querySelectorAll('[name="exclude_id"]')) old.remove();
  if (!target.elements.all?.checked) return;
  for (const box of document.querySelectorAll('.tick [name="id"]:not(:checked)')) {
    target.append(Object.assign(document.createElement("input"), { type: "hidden", name: "exclude_id", value: box.value }));
  }
}, true);

// A line that is edited is written in at once.
document.addEventListener("htmx:afterSettle", () => {
  const field = document.querySelector("tr.editing textarea:not([data-met])");
  if (!field) return;
  field.dataset.met = "";
  (field.form.querySelector("[role=alert]") ? field.form.querySelector("button") : field).focus();
});
