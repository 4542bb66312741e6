import { z } from 'zod'
import { namedObject } from './objects.ts'
import { shownNumber, textOrNull, timeOrNull } from './response-fields.ts'

const noticeKinds = [
  'no_dispatcher',
  'no_scheduler',
  'executions_used',
  'storage_full',
  'held',
  'circuit_open',
  'host_paused',
  'queue_paused',
  'cron_job_paused',
  'queue_down',
] as const

/** What keeps tasks of a workspace from running. */
export const notice = namedObject('Notice', {
  kind: z.enum(noticeKinds).meta({
    description:
      'Processes that do not run, a limit that is used up, tasks held since a restore, open circuit breakers, or what users have paused.',
  }),
  count: shownNumber('How many hosts, queues or cron jobs there are; 1 for other kinds.', 1),
  name: textOrNull(
    'The host, the queue or the cron job, if there is one; null for several and for other kinds.',
    'example.com',
  ),
  since: timeOrNull('Since when, for the first of them; the last heartbeat of processes. Null: not known.'),
  tasks: shownNumber(
    'Due tasks that wait for it, or that were cancelled for the limit this month; counted up to 10,000.',
    8,
  ),
})

export type Notice = z.infer<typeof notice>
