"use strict";
// Sort a table by a column: a button in each head, so that keyboard and screen reader have it too.
// Shade the edge of a box while it holds more than it shows.
// Without this script the tables stand as they were written, and their boxes scroll.
(() => {
  const next = { none: "ascending", ascending: "descending", descending: "ascending" };
  const status = document.getElementById("said");

  const value = (row, place) => {
    const cell = row.cells[place];
    return "key" in cell.dataset ? cell.dataset.key : cell.textContent.trim();
  };

  const compare = (number) => (one, other) => {
    if (one === other) return 0;
    return number ? Number(one) - Number(other) : one.localeCompare(other, "en", { numeric: true });
  };

  const sort = (table, head) => {
    const place = head.cellIndex;
    const order = next[head.getAttribute("aria-sort")] || "ascending";
    const by = compare(head.classList.contains("number"));
    const body = table.tBodies[0];
    const rows = Array.from(body.rows, (row) => [value(row, place), row]);
    const known = rows.filter(([key]) => key !== "" && key !== "null");
    const unknown = rows.filter(([key]) => key === "" || key === "null");
    known.sort((one, other) => by(one[0], other[0]) * (order === "ascending" ? 1 : -1));
    body.append(...[...known, ...unknown].map(([, row]) => row));
    for (const other of head.parentElement.cells) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", order);
    status.textContent = `${table.caption.textContent}: sorted by ${head.textContent}, ${order}`;
  };

  const shade = (scroll) => {
    const right = scroll.scrollWidth - scroll.clientWidth - scroll.scrollLeft;
    const below = scroll.scrollHeight - scroll.clientHeight - scroll.scrollTop;
    scroll.parentElement.classList.toggle("more", right > 2);
    scroll.parentElement.classList.toggle("below", below > 2);
  };
  const boxes = Array.from(document.querySelectorAll(".scroll"));
  const shadeAll = () => boxes.forEach(shade);
  for (const scroll of boxes) scroll.addEventListener("scroll", () => shade(scroll), { passive: true });
  window.addEventListener("resize", shadeAll, { passive: true });
  window.addEventListener("load", shadeAll);

  for (const table of document.querySelectorAll("table.sortable")) {
    for (const head of table.tHead.rows[0].cells) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => sort(table, head));
    }
  }
})();
