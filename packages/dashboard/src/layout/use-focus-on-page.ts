import { useEffect, useRef } from 'react'
import { useLocation } from 'react-router'

const openLayers = ['menu', 'dialog', 'alertdialog', 'listbox'].map(role => `[role=${role}][data-state=open]`).join()

/** Moves the focus to the content after navigation, as a browser does after loading a document. */
export function useFocusOnPage(): void {
  const { pathname } = useLocation()
  const shown = useRef(pathname)
  useEffect(() => {
    if (shown.current === pathname) return
    shown.current = pathname
    // Waits until a closing menu or drawer has restored the focus.
    const timer = setTimeout(() => {
      const main = document.getElementById('main')
      const { activeElement } = document
      // The page may have focused its first field, or a fast user may have opened a menu outside of main.
      const isInUse = main?.contains(activeElement) || activeElement?.closest(openLayers)
      if (!isInUse) main?.focus({ preventScroll: true })
    }, 50)
    return () => clearTimeout(timer)
  }, [pathname])
}
