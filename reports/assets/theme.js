// Before the first paint: the theme that the address asks for.
{
  const theme = new URLSearchParams(location.hash.slice(1)).get("theme");
  if (theme === "light" || theme === "dark") {
    document.documentElement.dataset.theme = theme;
  }
}
