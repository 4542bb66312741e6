import { z } from 'zod'
import { namedObject } from './objects.ts'
import { numberOrNull, shownNumber, textOrNull, timeOrNull } from './response-fields.ts'

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
const notice = namedObject('Notice', {
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

const processes = z.object({
  live: shownNumber('Processes with a heartbeat in the last five seconds.', 1),
  last_seen_at: timeOrNull('The latest heartbeat; null when there is none.'),
})

/** Whether Belfry delivers, by the heartbeats of its processes. */
export const status = namedObject('Status', {
  dispatchers: processes.meta({ description: 'They make the calls.' }),
  schedulers: processes.meta({ description: 'They run cron jobs and statistics.' }),
  queue: z.enum(['up', 'down', 'none']).meta({
    description:
      '`down`: Redis does not answer, and dispatchers read due tasks from PostgreSQL. `none`: no Redis is used.',
  }),
  notices: z.array(notice).meta({
    description: 'What keeps tasks of the workspace from running, the most severe first. Empty: nothing does.',
  }),
  dead_letters: numberOrNull(
    'Dead letters of the workspace, counted up to 1,000. Null without `dead_letter.read`.',
    12,
  ),
})

export type Status = z.infer<typeof status>
