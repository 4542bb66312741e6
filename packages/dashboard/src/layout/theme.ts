import { Monitor, Moon, Sun } from 'lucide-react'
import { store } from '../ui/browser-storage.ts'

const key = 'belfry.theme'

export const themes = [
  { id: 'system', label: 'System theme', Icon: Monitor },
  { id: 'light', label: 'Light theme', Icon: Sun },
  { id: 'dark', label: 'Dark theme', Icon: Moon },
] as const

/** Applies a theme and keeps it. `public/theme.js` applies it before the first paint. */
export function chooseTheme(theme: (typeof themes)[number]['id']): void {
  if (theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
  store(key, theme)
}
