import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react'
import { DefinitionList } from '../ui/definition-list.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { isTyping } from '../ui/is-typing.ts'

const CommandPalette = lazy(() => import('./command-palette.tsx').then(module => ({ default: module.CommandPalette })))

const openPalette = 'belfry:palette'

/** Opens the command palette. */
export function showPalette(): void {
  window.dispatchEvent(new Event(openPalette))
}

const shortcuts = [
  ['Command palette', <kbd key="k">Ctrl K or ⌘ K</kbd>],
  ['Search this page', <kbd key="s">/</kbd>],
  ['Select and open rows', <kbd key="r">↑ ↓ Enter</kbd>],
  ['Next and previous run of the log', <kbd key="j">J K</kbd>],
  ['Close dialog or panel', <kbd key="e">Esc</kbd>],
  ['Keyboard shortcuts', <kbd key="h">?</kbd>],
] as const

/** Handles the keyboard shortcuts of every page. */
export function Keyboard(): ReactNode {
  const [open, setOpen] = useState<'palette' | 'help' | null>(null)
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if ((event.metaKey || event.ctrlKey) && event.key === 'k') {
        event.preventDefault()
        return setOpen('palette')
      }
      if (isTyping(event.target) || event.metaKey || event.ctrlKey || event.altKey) return
      if (event.key === '?') setOpen('help')
      if (event.key === '/') {
        event.preventDefault()
        const search = document.querySelector<HTMLElement>('[data-page-search]')
        if (search) search.focus()
        else setOpen('palette')
      }
    }
    const onOpen = () => setOpen('palette')
    window.addEventListener('keydown', onKey)
    window.addEventListener(openPalette, onOpen)
    return () => {
      window.removeEventListener('keydown', onKey)
      window.removeEventListener(openPalette, onOpen)
    }
  }, [])
  return (
    <>
      {open === 'palette' && (
        <Suspense>
          <CommandPalette onClose={() => setOpen(null)} />
        </Suspense>
      )}
      <Dialog isOpen={open === 'help'} onClose={() => setOpen(null)} title="Keyboard shortcuts">
        <DefinitionList rows={shortcuts} />
      </Dialog>
    </>
  )
}
