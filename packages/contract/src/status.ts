import { z } from 'zod'
import { notice } from './notice.ts'
import { namedObject } from './objects.ts'
import { numberOrNull, shownNumber, timeOrNull } from './response-fields.ts'

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
