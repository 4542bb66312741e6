import { describe, expect, it } from 'vitest'
import { parseTraceparent, readTraceparent } from './traceparent.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const spanId = '00f067aa0ba902b7'

describe('a traceparent', () => {
  it('is parsed and formatted', () => {
    expect(readTraceparent(`00-${traceId}-${spanId}-01`)).toBe(`00-${traceId}-${spanId}-01`)
    expect(parseTraceparent(`00-${traceId}-${spanId}-00`)).toEqual({ traceId, spanId, flags: 0 })
  })

  it('keeps only the flags and parts of this version', () => {
    expect(readTraceparent(`00-${traceId}-${spanId}-ff`)).toBe(`00-${traceId}-${spanId}-01`)
    expect(readTraceparent(`cc-${traceId}-${spanId}-01-what-comes-later`)).toBe(`00-${traceId}-${spanId}-01`)
  })

  it.each([
    undefined,
    ['00'],
    '',
    `00-${traceId}-${spanId}`,
    `00-${traceId}-${spanId}-01-more`,
    `ff-${traceId}-${spanId}-01`,
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    ` 00-${traceId}-${spanId}-01`,
    `cc-${traceId}-${spanId}-01-${'x'.repeat(200)}`,
  ])('is not %j', header => {
    expect(readTraceparent(header)).toBeNull()
  })
})
