// Before the first paint: the theme that the address asks for (see address.js).
{
  const bar = self.frameElement?.dataset.address === undefined ? self : parent;
  const theme = new URLSearchParams(bar.location.hash.slice(1)).get("theme");
  if (theme === "light" || theme === "dark") {
    document.documentElement.dataset.theme = theme;
  }
}
