import { store } from '../ui/browser-storage.ts'

const key = 'belfry.theme'

/** Applies a theme and keeps it. `public/theme.js` applies it before the first paint. */
export function chooseTheme(theme: 'system' | 'light' | 'dark'): void {
  if (theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
  store(key, theme)
}
