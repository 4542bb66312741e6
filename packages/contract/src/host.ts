import { z } from 'zod'
import { namedObject } from './objects.ts'
import {
  idField,
  numberOrNull,
  orNull,
  shownFlag,
  shownNumber,
  shownText,
  timeOrNull,
  timestampField,
} from './response-fields.ts'

const nextProbeAt = timestampField().meta({
  description: 'When Belfry may probe the host with one attempt. Tasks wait until a probe succeeds.',
})

const blockedByHost = namedObject('BlockedByHost', {
  reason: z.literal('circuit_open').meta({ description: 'The circuit breaker of its host is open or half-open.' }),
  host: z.string().meta({ examples: ['example.com'] }),
  since: timestampField().meta({ description: 'When the circuit breaker opened.' }),
  next_probe_at: nextProbeAt,
})

const blockedByPause = namedObject('BlockedByPause', {
  reason: z.literal('host_paused').meta({ description: 'A user has paused its host.' }),
  host: z.string().meta({ examples: ['example.com'] }),
  since: timestampField().meta({ description: 'When a user paused the host.' }),
})

const blockedByQueue = namedObject('BlockedByQueue', {
  reason: z.literal('queue').meta({ description: 'Its queue is paused or lets no more attempts start now.' }),
  queue: z.string().meta({ examples: ['customer-42'], description: 'The name of the queue.' }),
})

const blockedByHold = namedObject('BlockedByHold', {
  reason: z.literal('held').meta({ description: 'The operator holds it since the restore of a backup.' }),
})

/** Why a due task waits. */
export const blocked = z.union([blockedByHost, blockedByPause, blockedByQueue, blockedByHold])

const hostCount = namedObject('HostCount', {
  attempts: shownNumber('Attempts that started in the window.', 240),
  failed: z.int().meta({ examples: [2], description: 'Attempts of the window that failed.' }),
  duration_ms: numberOrNull('The mean duration of an attempt; null without attempts.', 84),
})

/** A host that the tasks of a workspace call. */
export const host = namedObject('Host', {
  host: shownText('A host name or address, with its port.', 'example.com'),
  circuit: z
    .object({
      state: z.enum(['closed', 'open', 'half_open']),
      since: timeOrNull('When the breaker opened; null while it is closed.'),
      next_probe_at: nextProbeAt.nullable(),
      dispatchers: shownNumber('The dispatchers in which the breaker is not closed.', 0),
    })
    .meta({ description: 'The circuit breaker of the host for this workspace.' }),
  paused_at: timeOrNull('Since when a user has paused it; null unless it is paused.'),
  waiting: shownNumber('Tasks that are due and not started.', 0),
  waiting_is_capped: shownFlag('Only the first 10,000 waiting tasks of the workspace were counted.', false),
  in_flight: z.int().meta({ examples: [1] }),
  max_in_flight: shownNumber(
    'How many calls to it may be in flight at once, from all dispatchers and workspaces. 0: no dispatcher is running.',
    128,
  ),
  health: z.object({ five_minutes: hostCount, hour: hostCount, day: hostCount }).meta({
    description: 'The attempts that have ended, by the time of their start.',
  }),
  last_failure: orNull(
    z.object({
      run_id: idField('run'),
      at: timestampField(),
      response_status: orNull(z.int(), { examples: [503] }),
      error_code: orNull(z.string(), { examples: ['http_status'] }),
    }),
    { description: 'The latest failed run of the last 24 hours.' },
  ),
})

/** The hosts of a workspace: paused hosts and open circuit breakers first, then hosts with the most waiting tasks. */
export const hosts = namedObject('Hosts', {
  data: z.array(host),
  omitted: shownNumber('Hosts beyond the first 200.', 0),
})

export type Host = z.infer<typeof host>
export type Hosts = z.infer<typeof hosts>
