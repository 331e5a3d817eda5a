// Texts for the clipboard, which a page opened from a file may not reach.

/** Copies `text`; where the browser refuses, selects `node`. The button says which until it is left. */
export async function copyText(text, node, button) {
  button.dataset.label ??= button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "copied";
  } catch {
    getSelection().selectAllChildren(node);
    button.textContent = "selected";
  }
  const restore = () => {
    button.textContent = button.dataset.label;
  };
  button.addEventListener("blur", restore, { once: true });
}
