// The address bar: this page's own, or in a merged page that of the document around the frame. There
// `machine` says whose page it is, and stays.

const around = self.frameElement?.dataset.address === undefined ? null : parent;

/** The view's part of the address; "" when it says nothing. */
export function addressed() {
  if (!around) return location.hash;
  const parts = new URLSearchParams(around.location.hash.slice(1));
  parts.delete("machine");
  const text = parts.toString();
  return text && `#${text}`;
}

/** Keeps `view`, a hash or "", in the address. */
export function keepAddressed(view, replace) {
  const machine = around && new URLSearchParams(around.location.hash.slice(1)).get("machine");
  const address = around
    ? `#${new URLSearchParams({ machine })}${view.replace("#", "&")}`
    : view || location.pathname + location.search;
  (around ?? self).history[replace ? "replaceState" : "pushState"](null, "", address);
}

/** In a frame a link to a part of the page would load the document around it: goes there instead. */
export function stayInFrame() {
  if (!around) return;
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.('a[href^="#"]');
    if (!link || event.defaultPrevented) return;
    event.preventDefault();
    document.getElementById(link.hash.slice(1))?.scrollIntoView();
  });
}
