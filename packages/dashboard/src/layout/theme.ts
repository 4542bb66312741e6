import { store } from '../ui/browser-storage.ts'

export type Theme = 'system' | 'light' | 'dark'

const key = 'belfry.theme'

/** Returns the chosen theme. `public/theme.js` applies it before the first paint. */
export function chosenTheme(): Theme {
  const { theme } = document.documentElement.dataset
  return theme === 'light' || theme === 'dark' ? theme : 'system'
}

export function chooseTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
  store(key, theme)
}
