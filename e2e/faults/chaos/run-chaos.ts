import { openFixture } from '../fixture/fixture.ts'
import { createRandom } from '../fixture/load.ts'
import type { Template } from '../fixture/template.ts'
import type { RowResult } from '../row.ts'
import { judge } from '../run-row.ts'
import { cronOperations } from './cron-operations.ts'
import { keepRunning } from './keep-running.ts'
import { processFaults } from './process-faults.ts'
import { serverFaults } from './server-faults.ts'
import { steadyLoad } from './steady-load.ts'

export type ChaosOptions = {
  minutes: number
  seed: number
  /** Receives each fault as it happens. */
  onFault: (line: string) => void
}

const row = {
  id: 'F78',
  fault: 'a random mix: kills, freezes, flushes, restarts and cuts; tasks and cron jobs are cancelled and changed',
  moment: 'load',
  expected: 'every invariant holds; repeated at most what was in flight at a kill, a long freeze or a black hole',
}
const tasksPerSecond = 65
// The third organization gets one task in twenty, so it reaches this limit within minutes.
const executionLimit = 400

/** Runs a steady load while processes and servers fail, one after another and together, and checks the history. */
export async function runChaos(template: Template, options: ChaosOptions): Promise<RowResult> {
  const began = performance.now()
  const fixture = await openFixture(template, { persistRedis: true, executionLimit })
  try {
    const fleet = await keepRunning(fixture)
    const endAt = began + options.minutes * 60_000
    const lane = {
      random: createRandom(options.seed),
      fixture,
      fleet,
      endAt,
      onFault: options.onFault,
      faults: 0,
    }
    const others = { ...lane, random: createRandom(options.seed + 1) }
    await Promise.all([
      steadyLoad(fixture, { random: createRandom(options.seed + 2), endAt, perSecond: tasksPerSecond }),
      processFaults(lane),
      serverFaults(others),
      cronOperations(fixture, { random: createRandom(options.seed + 3), endAt }),
    ])
    options.onFault('the faults are over')
    const { verdict, complaints } = await judge(fixture, { restMs: 180_000, latenessMs: 300_000 })
    await fleet.release()
    const accepted = fixture.creates.filter(({ status }) => status === 201).length
    const operations = fixture.cronJobs.reduce((sum, job) => sum + job.operations.length, 0)
    const charged = fixture.charges.list.reduce((sum, { runIds }) => sum + runIds.length, 0)
    const notes = [
      `seed ${options.seed}, ${options.minutes} min, ${lane.faults + others.faults} faults`,
      `${fixture.creates.length} POSTs, ${accepted} answered with 201; ${done(fixture.cancels)} cancelled, ${done(fixture.changes)} changed`,
      `${fixture.cronJobs.length} cron jobs, ${operations} operations`,
      `${charged} attempts were in flight at ${fixture.charges.list.length} charged faults`,
    ]
    const durationMs = Math.round(performance.now() - began)
    return { row, status: complaints.length > 0 ? 'FAILED' : 'passed', ...verdict, notes, complaints, durationMs }
  } finally {
    await fixture.close()
  }
}

function done(answers: ReadonlyArray<{ status: number | 'broken' }>): number {
  return answers.filter(({ status }) => status === 200 || status === 204).length
}
