// The bar of sections and controls: how high it is, and its sheet of further controls.

/** Keeps what is scrolled to below the bar, however many rows it has. */
export function wireBar(bar) {
  keepHeight("--bar", bar, () =>
    getComputedStyle(bar).position === "sticky" ? bar.offsetHeight : 0,
  );
}

/** The same below the heads of a table, which stay in sight. */
export function wireHeads(heads) {
  keepHeight("--heads", heads, () => heads.offsetHeight);
}

/** Lets style sheets know a height by `name`, which changes with the size of `node`. */
function keepHeight(name, node, height) {
  const measure = () => document.documentElement.style.setProperty(name, `${height()}px`);
  new ResizeObserver(measure).observe(node);
  measure();
}

/** Closes an opened sheet with Esc, and with a click or focus outside of it. */
export function wireSheet(sheet) {
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !sheet.open) return;
    sheet.open = false;
    sheet.firstElementChild.focus();
  });
  const leave = ({ target }) => {
    if (sheet.open && !sheet.contains(target)) sheet.open = false;
  };
  document.addEventListener("pointerdown", leave);
  document.addEventListener("focusin", leave);
}

/** Marks a box whose content goes on beyond its right edge. */
export function hintScrolls(boxes) {
  const tell = (box) => {
    const beyond = box.scrollWidth - box.clientWidth;
    box.classList.toggle("more", beyond - box.scrollLeft > 2);
    box.classList.toggle("fits", beyond <= 0);
  };
  const watch = new ResizeObserver((entries) => {
    for (const { target } of entries) tell(target.closest(".scroll"));
  });
  for (const box of boxes) {
    box.addEventListener("scroll", () => tell(box), { passive: true });
    watch.observe(box);
    if (box.firstElementChild) watch.observe(box.firstElementChild);
  }
}
