import type { CronJobRecord } from '../fixture/api-operations.ts'
import type { Fixture } from '../fixture/fixture.ts'
import { lasting } from '../fixture/moments.ts'
import { between, pick } from './fault-lane.ts'

const cronJobs = 6
const kinds = ['pause', 'pause', 'resume', 'resume', 'change', 'trigger', 'delete'] as const
const catchUps = ['latest', 'all', 'none'] as const

/**
 * Creates some cron jobs that fire each minute, and pauses, resumes, changes, triggers and deletes them, one operation at a
 * time for each, until the end.
 */
export async function cronOperations(
  fixture: Fixture,
  { random, endAt }: { random: () => number; endAt: number },
): Promise<void> {
  let made = 0
  const create = () =>
    fixture.createCronJob({
      path: `/cron-${made++}`,
      catchUp: pick(random, catchUps),
      overlap: pick(random, ['allow', 'skip']),
      caller: pick(random, [0, 1]),
    })
  const lanes = Array.from({ length: cronJobs }, async () => {
    let job = await create()
    while (performance.now() < endAt) {
      await lasting(between(random, 3_000, 40_000))
      if (performance.now() > endAt) return
      // The id of a cron job whose POST was not answered is unknown; it stays as it is.
      if (job.id === null || (await operate(fixture, job, random)) === 'gone') job = await create()
    }
  })
  await Promise.all(lanes)
}

async function operate(fixture: Fixture, job: CronJobRecord, random: () => number): Promise<'kept' | 'gone'> {
  const kind = pick(random, kinds)
  if (kind === 'change') {
    await fixture.reschedule(job, pick(random, [1, 2]))
    return 'kept'
  }
  const status = await fixture.operate(job, kind)
  return kind === 'delete' && (status === 200 || status === 204) ? 'gone' : 'kept'
}
