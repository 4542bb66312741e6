import { type ReactNode, useEffect, useState } from 'react'
import { isTyping } from '../ui/is-typing.ts'
import { latePart } from '../ui/late-part.tsx'

const CommandPalette = latePart(async () => (await import('./command-palette.tsx')).CommandPalette)
const Shortcuts = latePart(async () => (await import('./shortcuts.tsx')).Shortcuts)

const openPalette = 'belfry:palette'

/** Opens the command palette. */
export function showPalette(): void {
  window.dispatchEvent(new Event(openPalette))
}

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
  const close = () => setOpen(null)
  return (
    <>
      {open === 'palette' && <CommandPalette onClose={close} />}
      {open === 'help' && <Shortcuts onClose={close} />}
    </>
  )
}
