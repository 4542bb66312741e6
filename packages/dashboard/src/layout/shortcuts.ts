import { isTyping } from '../ui/is-typing.ts'
import { moveRow } from '../ui/move-row.ts'
import type { NavigationItem } from './navigation.ts'

export type Shortcut = {
  /** A key as in `aria-keyshortcuts`, or two keys to press one after the other. */
  keys: string
  label: string
  /** Returns false if the page has no use for the key. Absent: the browser or a part of the page handles it. */
  run?(): unknown
}

type Actions = {
  pages: readonly NavigationItem[]
  go(path: string): void
  show(part: 'palette' | 'help'): void
  /** Opens the form of a new task. */
  create(): unknown
}

/** Returns the shortcuts of every page, for the keyboard and for its help. */
export function shortcutsOf({ pages, go, show, create }: Actions): readonly Shortcut[] {
  return [
    { keys: 'Control+k', label: 'Command palette', run: () => show('palette') },
    { keys: '/', label: 'Search this page', run: () => pressControl('/') || show('palette') },
    { keys: 'c', label: 'Create', run: () => pressControl('c') || create() },
    { keys: 'j', label: 'Next row', run: () => moveRow(1) },
    { keys: 'k', label: 'Previous row', run: () => moveRow(-1) },
    { keys: 'ArrowDown', label: 'Next row of a list', run: () => isOnList() && moveRow(1) },
    { keys: 'ArrowUp', label: 'Previous row of a list', run: () => isOnList() && moveRow(-1) },
    { keys: 'Enter', label: 'Open row' },
    { keys: 'Control+Enter', label: 'Submit form or dialog', run: () => pressControl('Control+Enter') },
    { keys: 'Escape', label: 'Close dialog or panel' },
    { keys: '?', label: 'Keyboard shortcuts', run: () => show('help') },
    ...pages.map(({ letter, label, to }) => ({ keys: `g ${letter}`, label: `Go to ${label}`, run: () => go(to) })),
  ]
}

const maxSequenceMs = 1500

/** Runs the shortcuts whose keys are pressed. Returns a function that ends that. */
export function followKeys(shortcuts: readonly Shortcut[]): () => void {
  let first = { keys: '', at: 0 }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.altKey || event.defaultPrevented || isTaken(event)) return
    const isSecond = event.timeStamp - first.at < maxSequenceMs
    const keys = (isSecond ? first.keys : '') + keyOf(event)
    first = { keys: shortcuts.some(one => one.keys.startsWith(`${keys} `)) ? `${keys} ` : '', at: event.timeStamp }
    const run = shortcuts.find(one => one.keys === keys)?.run
    if (run && run() !== false) event.preventDefault()
  }
  window.addEventListener('keydown', onKeyDown)
  return () => window.removeEventListener('keydown', onKeyDown)
}

/** Returns the keys for people: "G then T", "Ctrl K or ⌘ K". */
export function keysText(keys: string): string {
  const shown = keys
    .replace('ArrowUp', '↑')
    .replace('ArrowDown', '↓')
    .replace(/\b[a-z]\b/g, letter => letter.toUpperCase())
    .replace(' ', ' then ')
  const [, key] = shown.split('Control+')
  return key ? `Ctrl ${key} or ⌘ ${key}` : shown
}

function keyOf({ ctrlKey, metaKey, key }: KeyboardEvent): string {
  return `${ctrlKey || metaKey ? 'Control+' : ''}${key.length === 1 ? key.toLowerCase() : key}`
}

/** Returns whether a key belongs to its target: a letter to a field, a menu or a dialog, an arrow key to most elements. */
function isTaken({ target, ctrlKey, metaKey, key }: KeyboardEvent): boolean {
  if (ctrlKey || metaKey || !(target instanceof Element)) return false
  if (key.startsWith('Arrow')) return !target.matches('body, #main, [data-row-link]')
  return isTyping(target) || target.closest('[role=dialog], [role=menu]') !== null
}

/** Presses or focuses the control of the open dialog, or else of the form or page, that has a key. Returns whether there is one. */
function pressControl(key: string): boolean {
  const dialog = [...document.querySelectorAll('[role=dialog]')].at(-1)
  const scope = dialog ?? document.activeElement?.closest('form') ?? document
  const control = scope.querySelector<HTMLElement>(`[aria-keyshortcuts="${key}"]`)
  if (control instanceof HTMLInputElement) control.focus()
  else control?.click()
  return control !== null
}

/** Returns whether the arrow keys move between rows: on a row, and on a page that is a list. Other pages scroll. */
function isOnList(): boolean {
  return document.querySelector('[data-row-link]:focus, #main [aria-keyshortcuts="/"]') !== null
}
