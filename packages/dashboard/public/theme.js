// Runs before the first paint. A separate file, because the content security policy allows no inline script.
try {
  const theme = localStorage.getItem('belfry.theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
} catch {
  // Storage is blocked: the system theme applies.
}
