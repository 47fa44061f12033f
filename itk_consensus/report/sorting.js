// Sorts a table by the column whose heading is pressed, upwards first, and hides rows that are not asked for.
"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  table.querySelectorAll("thead button").forEach((button) => {
    button.addEventListener("click", () => {
      const heading = button.closest("th");
      const column = [...heading.parentNode.children].indexOf(heading);
      const rising = heading.getAttribute("aria-sort") !== "ascending";
      const key = (row) => row.children[column].dataset.value ?? row.children[column].textContent.trim();
      const unknown = (text) => text === "–" || text === "";
      const rows = [...body.rows].sort((one, other) => {
        const [a, b] = [key(one), key(other)];
        if (unknown(a) || unknown(b)) return unknown(a) - unknown(b);
        const [x, y] = [Number(a), Number(b)];
        const order = Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b, undefined, { numeric: true }) : x - y;
        return rising ? order : -order;
      });
      table.querySelectorAll("th[aria-sort]").forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", rising ? "ascending" : "descending");
      body.append(...rows);
    });
  });
}

const filters = [...document.querySelectorAll("select[data-filter]")];
for (const select of filters) {
  select.addEventListener("change", () => {
    let shown = 0;
    for (const row of document.querySelectorAll("table.sortable tbody tr")) {
      const said = (what) => row.querySelector(`[data-${what}]`)?.getAttribute(`data-${what}`).split(", ") ?? [];
      row.hidden = filters.some((one) => one.value && !said(one.dataset.filter).includes(one.value));
      shown += !row.hidden;
    }
    document.querySelector(".filters [role=status]").textContent = `${shown} cases`;
  });
}

// "26 of 40 cases: use" shows these cases only.
for (const link of document.querySelectorAll("a[data-show]")) {
  link.addEventListener("click", () => {
    for (const select of filters) select.value = select.dataset.filter === "verdict" ? link.dataset.show : "";
    filters[0]?.dispatchEvent(new Event("change"));
  });
}
