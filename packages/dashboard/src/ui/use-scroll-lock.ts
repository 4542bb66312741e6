import { useLayoutEffect } from 'react'

let locks = 0

/**
 * Keeps the page from scrolling while a dialog is open. `base.css` reads the attribute. A rule with `:has` instead would have
 * the browser look through the page whenever a row is added.
 */
export function useScrollLock(): void {
  useLayoutEffect(() => {
    locks += 1
    document.documentElement.dataset.modal = ''
    return () => {
      locks -= 1
      if (locks === 0) delete document.documentElement.dataset.modal
    }
  }, [])
}
