import { describe, expect, it } from 'vitest'
import { latenessOf } from './lateness.ts'

describe('the lateness of calls', () => {
  it('is the arrival minus the due time in their name, from a given time on', () => {
    const late = latenessOf(
      [
        ['1000', 1900],
        ['2000', 2004],
        ['3000', 3006],
      ],
      2000,
    )
    expect(late).toMatchObject({ p50: 5, min: 4, max: 6 })
  })

  it('cannot be negative', () => {
    expect(() => latenessOf([['2000', 1990]], 0)).toThrow('10 ms before its time')
  })
})
