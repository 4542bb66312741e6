import { z } from 'zod'
import { UsageError } from '../usage-error.ts'
import { type Entry, requestFields, type SourceFlags } from './entry.ts'
import { jsonEntries } from './json-entries.ts'

const form = z.object({ path: z.string(), schedule: z.string() })

export function readVercel(text: string, { origin, cronSecret }: SourceFlags): Entry[] {
  if (!origin) throw new UsageError('Give the origin of the production deployment: --origin https://shop.example.com')
  const headers: Record<string, string> = cronSecret ? { Authorization: 'Bearer {{ secrets.CRON_SECRET }}' } : {}
  const open = 'the call has no Authorization header; --cron-secret sends CRON_SECRET as Vercel does'
  return jsonEntries(text, form, 'path', ({ path, schedule: cron }) => ({
    job: {
      ...requestFields({ url: origin.replace(/\/$/, '') + path, method: 'GET', headers, body: null }),
      ...{ cron, timezone: 'UTC' },
    },
    notes: cronSecret ? [] : [open],
  }))
}
