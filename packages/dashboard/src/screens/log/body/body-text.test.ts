import { expect, it } from 'vitest'
import { bytesOf, hexDump } from './body-view.tsx'

it('shows bytes with their offset and their characters', () => {
  const bytes = bytesOf(btoa('<script>\u00ff\u0000 and more'))
  expect(hexDump(bytes).split('\n')).toEqual([
    '000000  3c 73 63 72 69 70 74 3e  ff 00 20 61 6e 64 20 6d  <script>.. and m',
    '000010  6f 72 65                                          ore',
  ])
  expect(hexDump(new Uint8Array())).toBe('')
})
