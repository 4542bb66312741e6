import { afterEach, expect, it, vi } from 'vitest'
import { lastPlace, rememberPlace } from './last-place.ts'

afterEach(() => vi.unstubAllGlobals())

it('the last place of a tab stays when another tab goes elsewhere, and a new tab starts at the latest', () => {
  const localStorage = storage()
  const [first, second, third] = [1, 2, 3].map(() => ({ localStorage, sessionStorage: storage() }))
  vi.stubGlobal('window', first)
  expect(lastPlace()).toBeNull()
  rememberPlace('/acme/w/ws_1')
  vi.stubGlobal('window', second)
  expect(lastPlace()).toEqual({ slug: 'acme', ws: 'ws_1' })
  rememberPlace('/acme/w/ws_2')
  vi.stubGlobal('window', first)
  expect(lastPlace()?.ws).toBe('ws_1')
  vi.stubGlobal('window', third)
  expect(lastPlace()?.ws).toBe('ws_2')
})

function storage() {
  const kept = new Map<string, string>()
  return {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
  }
}
