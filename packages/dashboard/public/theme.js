// Before the first paint, and a file of its own because the page's policy allows no script inside it.
try {
  const theme = localStorage.getItem('belfry.theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
} catch {
  // Storage is refused: the system's theme it is.
}
