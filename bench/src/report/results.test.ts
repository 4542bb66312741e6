import { describe, expect, it } from 'vitest'
import { type StoredResult, withResults } from './results.ts'

const result: StoredResult = {
  name: 'lag',
  title: 'Lateness',
  measuredAt: '2026-11-21T10:00:00.000Z',
  seconds: 30,
  machine: { cpu: 'Some CPU', cores: 2, memoryGiB: 24, kernel: '6', versions: { node: '20.19.0' } },
  rounds: [],
  notes: ['A note.'],
  figures: [
    { key: 'lag_ms', title: 'how late', unit: 'ms', value: 12.345, min: 9, max: 20.01, limit: { atMost: 25, aim: 10 } },
  ],
}

const page = (text: string) =>
  `before\n<!-- results: written by npm run bench -- --write-docs -->${text}<!-- end of results -->\nafter\n`

describe('the page of results', () => {
  it('shows each figure with its spread, its limit and the verdict', () => {
    const text = withResults(page('\nold\n'), [result])
    expect(text).toContain('| `lag_ms` | how late | 12.3 ms | 9 - 20 | <= 25, aim 10 | pass |')
    expect(text).toContain('2026-11-21, 2 x Some CPU, 24 GiB, node 20.19.0.')
    expect(text).toContain('A note.')
    expect(text).not.toContain('old')
  })

  it('keeps the text around the results, and can be written again', () => {
    const text = withResults(page(''), [result])
    expect(text.startsWith('before\n')).toBe(true)
    expect(text.endsWith('<!-- end of results -->\nafter\n')).toBe(true)
    expect(withResults(text, [result])).toBe(text)
  })

  it('is rejected without the markers', () => {
    expect(() => withResults('nothing', [])).toThrow('no place for the results')
  })
})
