import type { Status } from '@belfry/contract/status'
import { expect, it } from 'vitest'
import { findOutage } from './find-outage.ts'

const up = { live: 1, last_seen_at: '2026-11-23T22:00:00.000Z' }
const down = { live: 0, last_seen_at: '2026-11-23T21:00:00.000Z' }
const status = (changes: Partial<Status> = {}): Status => ({ dispatchers: up, schedulers: up, queue: 'up', ...changes })

it.each([
  ['nothing while all is well', status(), null, null],
  ['nothing without a queue', status({ queue: 'none' }), null, null],
  ['nothing before the first answer', undefined, null, null],
  ['nothing about a refusal', status({ dispatchers: down }), 403, null],
  ['the database', status(), 503, /^The database/],
  ['an api that does not answer', status(), 0, /^Belfry cannot be reached/],
  ['dispatchers', status({ dispatchers: down, schedulers: down }), null, /^No dispatcher/],
  ['schedulers', status({ schedulers: down, queue: 'down' }), null, /^No scheduler/],
  ['the queue', status({ queue: 'down' }), null, /^The queue/],
] as const)('reports %s', (_name, answer, errorStatus, text) => {
  const outage = findOutage(answer, errorStatus)
  if (text === null) expect(outage).toBeNull()
  else expect(outage?.text).toMatch(text)
})
