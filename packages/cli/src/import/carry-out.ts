import { type Belfry, type CronJob, NotFoundError } from '@belfry/client'
import { digest, fingerprintOf, fingerprintOfExisting } from './fingerprint.ts'
import type { ImportedEntry, PlannedJob } from './planned-job.ts'

type Planned = Extract<ImportedEntry, { job: PlannedJob }>

/** What became, or would become, of one entry. */
export type Carried = Planned & { outcome: 'made' | 'there already' | 'would be made'; cronJob: CronJob | null }

// A job that is to be paused starts so late until it is, so that it never calls in between.
const notYet = '2090-01-01T00:00:00.000Z'

/** The jobs that are there, by what they have in common with a planned one. */
export async function findExisting(belfry: Belfry, signal: AbortSignal): Promise<Map<string, CronJob>> {
  const found = new Map<string, CronJob>()
  for await (const job of belfry.cronJobs.list({ limit: 100 }, { signal })) {
    if (job.status !== 'ended') found.set(fingerprintOfExisting(job), job)
  }
  return found
}

/** Makes what is not there yet, one after the other. Repeated, it makes nothing twice. */
export async function* carryOut(
  belfry: Belfry,
  entries: readonly Planned[],
  existing: Map<string, CronJob>,
  signal: AbortSignal,
): AsyncGenerator<Carried> {
  for (const entry of entries) {
    const fingerprint = fingerprintOf(entry.job)
    const present = existing.get(fingerprint)
    const isHalfMade = present?.startsAt === notYet
    if (present && !isHalfMade) {
      yield { ...entry, outcome: 'there already', cronJob: present }
      continue
    }
    const made = present ?? (await create(belfry, entry, signal))
    const cronJob = made.startsAt === notYet ? await release(belfry, made, entry.isPaused, signal) : made
    existing.set(fingerprint, cronJob)
    yield { ...entry, outcome: 'made', cronJob }
  }
}

async function create(belfry: Belfry, { job, isPaused }: Planned, signal: AbortSignal) {
  const body = isPaused ? { ...job, startsAt: notYet } : job
  const made = await belfry.cronJobs.create(body, { signal, idempotencyKey: `import-${digest([body])}` })
  try {
    return await belfry.cronJobs.get(made.id, { signal })
  } catch (error) {
    // The key gave the answer of an import whose job somebody has deleted since.
    if (error instanceof NotFoundError) return belfry.cronJobs.create(body, { signal })
    throw error
  }
}

async function release(belfry: Belfry, { id }: CronJob, isPaused: boolean, signal: AbortSignal): Promise<CronJob> {
  if (isPaused) await belfry.cronJobs.pause(id, { signal })
  return belfry.cronJobs.update(id, { startsAt: null }, { signal })
}
