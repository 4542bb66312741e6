import { useSyncExternalStore } from 'react'

const narrow = '(max-width: 860px)'

/** Whether the screen has room for one column only, as `shell.module.css` sees it. */
export function useIsNarrow(): boolean {
  return useSyncExternalStore(
    listener => {
      const media = window.matchMedia(narrow)
      media.addEventListener('change', listener)
      return () => media.removeEventListener('change', listener)
    },
    () => window.matchMedia(narrow).matches,
  )
}
