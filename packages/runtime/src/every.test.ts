import { expect, it } from 'vitest'
import { every } from './every.ts'

it('repeats a chore, never twice at once, also after it failed', async () => {
  const stop = new AbortController()
  let running = 0
  let overlapped = false
  let runs = 0
  const errors: unknown[] = []
  await every(
    {
      intervalMs: 1,
      async run() {
        overlapped ||= ++running > 1
        await new Promise(resolve => setTimeout(resolve, 2))
        running--
        if (++runs === 5) stop.abort()
        if (runs === 2) throw new Error('once')
      },
      onError: error => errors.push(error),
    },
    stop.signal,
  )
  expect({ runs, overlapped, errors: errors.length }).toEqual({ runs: 5, overlapped: false, errors: 1 })
})

it('ends at once while it waits, however long its period is', async () => {
  const stop = new AbortController()
  const began = performance.now()
  const loop = every({ intervalMs: 3_600_000, run: async () => 0, onError: () => {} }, stop.signal)
  setImmediate(() => stop.abort())
  await loop
  expect(performance.now() - began).toBeLessThan(1000)
})
