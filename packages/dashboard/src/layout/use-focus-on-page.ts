import { useEffect, useRef } from 'react'
import { useLocation } from 'react-router'

const openLayers = ['menu', 'dialog', 'alertdialog', 'listbox'].map(role => `[role=${role}][data-state=open]`).join()

/** Moves the focus to the content when another page is gone to, as a browser does for a document of its own. */
export function useFocusOnPage(): void {
  const { pathname } = useLocation()
  const shown = useRef(pathname)
  useEffect(() => {
    if (shown.current === pathname) return
    shown.current = pathname
    // After a menu or a drawer that closes has given the focus back to where it came from.
    const timer = setTimeout(() => {
      const main = document.getElementById('main')
      const { activeElement } = document
      // A page may have put it into its first field, and a fast hand into a menu of the page, which lies outside.
      const isInUse = main?.contains(activeElement) || activeElement?.closest(openLayers)
      if (!isInUse) main?.focus({ preventScroll: true })
    }, 50)
    return () => clearTimeout(timer)
  }, [pathname])
}
