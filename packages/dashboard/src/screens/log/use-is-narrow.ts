import { useSyncExternalStore } from 'react'

const narrow = '(max-width: 860px)'

/** Returns whether the screen fits only one column. The width is the one in `shell.module.css`. */
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
