import { occurrenceOfLocal, parseLocal } from '@belfry/domain/cron/local-time'
import type { z } from 'zod'
import { refuse, textField } from './fields.ts'
import { timeZone } from './text-rules.ts'

/** The last time of a task. */
export const lastInstant = new Date('2099-12-31T23:59:59.999Z')
export const tooLate = { code: 'out_of_range', must: 'not be after the year 2099' }

/** A local time as if in UTC. `resolveLocalTimes` replaces it by an instant. */
class LocalTime extends Date {}

/** Parses a timestamp without an offset; returns null for other text. */
export function localTime(text: string): { value: Date } | null {
  const local = parseLocal(text)
  return local && { value: new LocalTime(local) }
}

export const timezoneField = textField(timeZone).meta({
  description:
    'The IANA time zone of times without an offset. Where clocks skip the time, it is the end of the gap; a time that occurs twice is the first.',
  examples: ['Europe/Berlin'],
})

const names = ['execute_at', 'expires_at'] as const
type Times = { execute_at?: Date | undefined; expires_at?: Date | null | undefined; timezone?: string | undefined }

/** Replaces the local times of a body by instants. Refuses a local time without a zone, and a zone without a local time. */
export function resolveLocalTimes(body: Times, ctx: z.RefinementCtx): void {
  const { timezone } = body
  for (const name of names) {
    const time = body[name]
    if (!(time instanceof LocalTime)) continue
    if (typeof timezone === 'string') {
      const instant = new Date(occurrenceOfLocal(timezone, time.getTime()).atMs)
      body[name] = instant
      if (instant > lastInstant) refuse(ctx, instant, tooLate, [name])
    } else if (!('timezone' in body)) {
      const must = 'be a timestamp with an offset, such as 2026-11-21T02:20:00Z, or come with a timezone'
      refuse(ctx, time, { code: 'invalid_timestamp', must }, [name])
    }
  }
  if ('timezone' in body && !names.some(name => name in body)) {
    refuse(ctx, timezone, { code: 'conflicting_fields', must: 'come with execute_at or expires_at' }, ['timezone'])
  }
}
