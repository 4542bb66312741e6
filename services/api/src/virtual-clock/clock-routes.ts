import { parseInstant, writeInstant } from '@belfry/domain/instant'
import type { ClockReading, VirtualClock } from '@belfry/runtime'
import { z } from 'zod'
import { endpoint, type Methods } from '../endpoint.ts'

// A year: tests of longer times advance several times.
const maxIdleMs = 366 * 24 * 3_600_000

const clockAnswer = { status: 200, body: z.object({ now: z.string(), frozen: z.boolean() }) }
const duration = z.int().min(0)
const time = z.string().refine(text => parseInstant(text) !== null, 'must be an RFC 3339 time')
const nothing = z.strictObject({})
const untilIdle = z.strictObject({ max_ms: duration.max(maxIdleMs).optional() })
const move = z
  .strictObject({ by_ms: duration.optional(), to: time.optional() })
  .refine(({ by_ms, to }) => (by_ms === undefined) !== (to === undefined), 'must have either by_ms or to')

const declare = (summary: string) => ({ right: 'public', summary, response: clockAnswer }) as const

/** Returns the routes that move the virtual clock. They are public, because the build for tests listens on loopback. */
export function clockRoutes(clock: VirtualClock): Record<string, Methods> {
  const action = (summary: string, run: () => Promise<ClockReading>) =>
    endpoint({ ...declare(summary), body: nothing }, async () => show(await run()))
  const get = endpoint(declare('Read the virtual clock'), async () => show(clock.read()))
  const advance = endpoint(
    { ...declare('Advance the virtual clock, and make all calls that become due'), body: move },
    async (_ctx, { body: { by_ms = 0, to } }) => {
      const at = to === undefined ? null : parseInstant(to)
      return show(await clock.advance(at?.getTime() ?? clock.read().now + by_ms))
    },
  )
  const runUntilIdle = endpoint(
    { ...declare('Advance the virtual clock until only cron jobs wait'), body: untilIdle },
    async (_ctx, { body }) => show(await clock.runUntilIdle(clock.read().now + (body.max_ms ?? maxIdleMs))),
  )
  const path = '/api/test/clock'
  return {
    [path]: { get },
    [`${path}/freeze`]: { post: action('Stop the virtual clock', clock.freeze) },
    [`${path}/advance`]: { post: advance },
    [`${path}/run-until-idle`]: { post: runUntilIdle },
    [`${path}/reset`]: { post: action('Return the virtual clock to the time of the machine', clock.reset) },
  }
}

function show({ now, isFrozen }: ClockReading) {
  return { now: writeInstant(new Date(Math.floor(now))), frozen: isFrozen }
}
