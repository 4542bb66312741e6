import { expect, it } from 'vitest'
import { keysText, shortcutsOf } from './shortcuts.ts'

const pages = ['o', 't', 'c'].map(letter => ({ letter, label: letter, to: `/${letter}`, isCurrent: false }))
const nothing = () => {}
const shortcuts = shortcutsOf({ pages: pages as never, go: nothing, show: nothing, create: nothing })

it('each key has one meaning, and no key begins a sequence and is a shortcut itself', () => {
  const keys = shortcuts.map(shortcut => shortcut.keys)
  expect(new Set(keys).size).toBe(keys.length)
  expect(keys.filter(one => keys.some(other => other.startsWith(`${one} `)))).toEqual([])
})

it('the help names keys as they stand on a keyboard', () => {
  expect(['Control+k', 'Control+Enter', 'g t', 'j', 'ArrowUp', '?', 'Escape'].map(keysText)).toEqual([
    'Ctrl K or ⌘ K',
    'Ctrl Enter or ⌘ Enter',
    'G then T',
    'J',
    '↑',
    '?',
    'Escape',
  ])
})
