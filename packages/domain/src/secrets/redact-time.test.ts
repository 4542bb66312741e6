import { setImmediate } from 'node:timers/promises'
import { leastCostOf, liveHeap } from '@belfry/test-support/cpu-time'
import { propertyRuns } from '@belfry/test-support/property-runs'
import { expect, it } from 'vitest'
import { createRedactor } from './redact.ts'

const maxStallMs = 50
const cost = { stallMs: maxStallMs, heapBytes: Number.POSITIVE_INFINITY }
const escapes = [
  '\\',
  '"',
  "'",
  `'"'"'`,
  '%25',
  '&#38;',
  '&',
  '=3D',
  '&#x26;',
  '%5c&#92;=5C',
  '\\u005c',
  '&ampampamp',
  '+',
]
const start = 'aB3/+x_9'

const secrets = (count: number, length: number, unit = start) =>
  Array.from({ length: count }, (_, i) => ({
    name: `S${i}`,
    value: unit.repeat(length).slice(0, length - 4) + String(i).padStart(4, 'q'),
  }))

const body = (unit: string, bytes = propertyRuns(64 * 1024, 4 * 1024)) => Buffer.alloc(bytes, unit)

it.each([
  ['one secret', secrets(1, 40), escapes],
  ['a hundred secrets', secrets(100, 40), [start, 'YUIz']],
  ['two long secrets', secrets(2, 8_190), [start, 'YUIz', '\\']],
  ['two long secrets of one letter', secrets(2, 8_190, 'A'), ['A', 'QUFB']],
  ['two long secrets of escapes', secrets(2, 8_190, `\\'"&`), ['x', `\\'"&`]],
])('crafted responses to a request with %s do not block the event loop', async (_, all, units) => {
  const redactor = createRedactor(all)
  await redactor.bytes(body(start, 1024), true) // compiles the code
  for (const unit of units.slice(0, propertyRuns(units.length, 3))) {
    const { stallMs } = await leastCostOf(async () => () => redactor.bytes(body(unit), true), cost)
    expect(stallMs, unit).toBeLessThan(maxStallMs)
  }
})

const craftedAtOnce = 4

it('a plain response does not wait for crafted ones that came before it', async () => {
  const redactor = createRedactor(secrets(1, 40))
  const ended: string[] = []
  const end = (name: string) => () => void ended.push(name)
  const prepare = async () => async () => {
    const crafted = Array.from({ length: craftedAtOnce }, () =>
      redactor.bytes(body('\\', 1_024), true).then(end('crafted')),
    )
    await redactor.text('plain').then(end('plain'))
    await Promise.all(crafted)
  }
  expect((await leastCostOf(prepare, cost)).stallMs).toBeLessThan(maxStallMs)
  expect(ended.filter((_, i) => i % (craftedAtOnce + 1) === 0)).toEqual(ended.filter(name => name === 'plain'))
})

it('the forms of all secrets that a request may have take less than 16 MB', async () => {
  const redactor = createRedactor(secrets(2, 8_190, '\u00ffa\u00e9"'))
  const before = liveHeap()
  await redactor.text('a response')
  expect(liveHeap() - before).toBeLessThan(16e6)
  expect(await redactor.text('a response')).toBe('a response')
})

it('a crafted response takes less than 4 MB while it is searched', async () => {
  const redactor = createRedactor(secrets(1, 40))
  await redactor.text(start)
  const before = liveHeap()
  let isOver = false
  const taken: number[] = []
  const searching = redactor.bytes(body('\\', 16 * 1024), true).finally(() => {
    isOver = true
  })
  for (let turns = 1; !isOver; turns++) {
    await setImmediate()
    if (turns % 50 === 0) taken.push(liveHeap() - before)
  }
  await searching
  // Negative while what earlier tests have left is collected.
  expect(taken.length).toBeGreaterThan(0)
  expect(Math.max(...taken)).toBeLessThan(4e6)
})
