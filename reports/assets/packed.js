// What the page keeps compressed, as gzip in base64: its data, and in them the parts that stand folded.

/** The text in a script element. */
export async function unpacked(node) {
  const bytes = Uint8Array.from(atob(node.textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

/** Puts each of `texts` into its fold when that is opened, and hands the fold to `filled`. Returns what fills
 * all folds in a part of the page. */
export function wireFolds(texts, filled) {
  const fill = (place) => {
    const fold = place.parentElement;
    place.outerHTML = texts[place.dataset.fold];
    filled(fold);
  };
  const open = ({ target }) => {
    const place = target.querySelector(":scope > [data-fold]");
    if (place) fill(place);
  };
  document.addEventListener("toggle", open, true);
  return (root) => {
    while (root.querySelector("[data-fold]")) fill(root.querySelector("[data-fold]"));
  };
}
