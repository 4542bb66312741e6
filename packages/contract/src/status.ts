import { z } from 'zod'
import { timestampField } from './response-fields.ts'

const processes = z.object({
  live: z.int().meta({ description: 'Processes with a heartbeat in the last five seconds.', examples: [1] }),
  last_seen_at: timestampField().nullable().meta({ description: 'The latest heartbeat; null when there is none.' }),
})

/** Whether Belfry delivers, by the heartbeats of its processes. */
export const status = z
  .object({
    dispatchers: processes.meta({ description: 'They make the calls.' }),
    schedulers: processes.meta({ description: 'They run cron jobs and statistics.' }),
    queue: z.enum(['up', 'down', 'none']).meta({
      description:
        '`down`: Redis does not answer, and dispatchers read due tasks from PostgreSQL. `none`: no Redis is used.',
    }),
  })
  .meta({ id: 'Status' })

export type Status = z.infer<typeof status>
