import { describe, expect, it } from 'vitest'
import { formatDuration, formatRelative } from './format-time.ts'

describe('times in words', () => {
  const now = new Date('2026-11-21T12:00:00Z')
  it.each([
    ['2026-11-21T11:57:00Z', '3 min. ago'],
    ['2026-11-21T14:00:00Z', 'in 2 hr.'],
    ['2026-11-21T12:00:00.400Z', 'now'],
    ['2026-11-20T12:00:00Z', 'yesterday'],
  ])('%s is %s', (at, words) => {
    expect(formatRelative(new Date(at), now)).toBe(words)
  })

  it.each([
    [84, '84 ms'],
    [1240, '1.2 s'],
    [200_000, '3 min 20 s'],
    [7_200_000, '2 h'],
  ])('%d ms are %s', (ms, words) => {
    expect(formatDuration(ms)).toBe(words)
  })
})
