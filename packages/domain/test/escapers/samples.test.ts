import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Escaped } from './escapers.ts'
import { leaksOfOne } from './leaks.ts'

// Written by the real escapers: see `escapers.long.ts`.
const { values, ...samples } = JSON.parse(readFileSync(new URL('samples.json', import.meta.url), 'utf8')) as {
  values: string[]
} & Record<string, Escaped[]>

describe('redaction hides a value', () => {
  it.each(Object.entries(samples))('as %s has escaped it', async (_, escaped) => {
    const [around = {}] = escaped
    expect(escaped).toHaveLength(values.length)
    const leaks = await Promise.all(values.map((value, i) => leaksOfOne(value, escaped[i] ?? {}, around)))
    expect(leaks.flat()).toEqual([])
  })
})
