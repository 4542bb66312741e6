import { type Belfry, type CronJob, NotFoundError } from '@belfry/client'
import { digest } from '../digest.ts'
import { fingerprintOf, fingerprintOfExisting } from './fingerprint.ts'
import type { Imported } from './planned-job.ts'

/** The result of importing one entry. */
export type Carried = Imported & { outcome: 'created' | 'existing' | 'would be created'; cronJob: CronJob | null }

// A cron job that must be paused is created with this start, so it never runs before the pause.
const notYet = '2090-01-01T00:00:00.000Z'

/** Returns the existing cron jobs by their fingerprints. */
export async function findExisting(belfry: Belfry, signal: AbortSignal): Promise<Map<string, CronJob>> {
  const found = new Map<string, CronJob>()
  for await (const job of belfry.cronJobs.list({ limit: 100 }, { signal })) {
    if (job.status !== 'ended') found.set(fingerprintOfExisting(job), job)
  }
  return found
}

/** Creates the missing cron jobs sequentially. A repetition creates no duplicates. */
export async function* carryOut(
  belfry: Belfry,
  entries: readonly Imported[],
  existing: Map<string, CronJob>,
  signal: AbortSignal,
): AsyncGenerator<Carried> {
  for (const entry of entries) {
    const fingerprint = fingerprintOf(entry.job)
    const present = existing.get(fingerprint)
    const isHalfMade = present?.startsAt === notYet
    if (present && !isHalfMade) {
      yield { ...entry, outcome: 'existing', cronJob: present }
      continue
    }
    const made = present ?? (await create(belfry, entry, signal))
    const cronJob = made.startsAt === notYet ? await release(belfry, made, entry.isPaused, signal) : made
    existing.set(fingerprint, cronJob)
    yield { ...entry, outcome: 'created', cronJob }
  }
}

async function create(belfry: Belfry, { job, isPaused }: Imported, signal: AbortSignal) {
  const body = isPaused ? { ...job, startsAt: notYet } : job
  const made = await belfry.cronJobs.create(body, { signal, idempotencyKey: `import-${digest([body])}` })
  try {
    return await belfry.cronJobs.get(made.id, { signal })
  } catch (error) {
    // The idempotency key returned a cron job that has been deleted since.
    if (error instanceof NotFoundError) return belfry.cronJobs.create(body, { signal })
    throw error
  }
}

async function release(belfry: Belfry, { id }: CronJob, isPaused: boolean, signal: AbortSignal): Promise<CronJob> {
  if (isPaused) await belfry.cronJobs.pause(id, { signal })
  return belfry.cronJobs.update(id, { startsAt: null }, { signal })
}
