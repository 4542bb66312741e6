import { openBench } from '../bench/bench.ts'
import { createRandom } from '../bench/load.ts'
import type { Template } from '../bench/template.ts'
import type { RowResult } from '../row.ts'
import { judge } from '../run-row.ts'
import { keepRunning } from './keep-running.ts'
import { processFaults } from './process-faults.ts'
import { serverFaults } from './server-faults.ts'
import { steadyLoad } from './steady-load.ts'

export type ChaosOptions = {
  minutes: number
  seed: number
  /** Told of each fault as it happens. */
  onFault: (line: string) => void
}

const row = {
  id: 'F78',
  fault: 'a random mix: kills, freezes, flushes, restarts and cuts',
  moment: 'load',
  expected: 'every invariant holds; repeated at most what was under way at kills, freezes and long outages',
}
// A task can meet several faults, and the third lost attempt ends it.
const repeatsPerTask = 3
const tasksPerSecond = 65

/** Runs a steady load while processes and servers fail in turn and at once, and checks what came of it. */
export async function runChaos(template: Template, options: ChaosOptions): Promise<RowResult> {
  const began = performance.now()
  const bench = await openBench(template, { persistRedis: true })
  try {
    const fleet = await keepRunning(bench)
    const endAt = began + options.minutes * 60_000
    const story = {
      random: createRandom(options.seed),
      bench,
      fleet,
      endAt,
      onFault: options.onFault,
      mayRepeat: 0,
      faults: 0,
    }
    const others = { ...story, random: createRandom(options.seed + 1) }
    await Promise.all([
      steadyLoad(bench, { random: createRandom(options.seed + 2), endAt, perSecond: tasksPerSecond }),
      processFaults(story),
      serverFaults(others),
    ])
    options.onFault('the faults are over')
    const repeats = story.mayRepeat + others.mayRepeat
    const { verdict, complaints } = await judge(bench, { repeatsPerTask, repeats, restMs: 180_000 })
    await fleet.release()
    const accepted = bench.creates.filter(({ status }) => status === 201).length
    const notes = [
      `seed ${options.seed}, ${options.minutes} min, ${story.faults + others.faults} faults`,
      `${bench.creates.length} POSTs, ${accepted} answered with 201; ${repeats} repeats allowed`,
    ]
    const durationMs = Math.round(performance.now() - began)
    return { row, status: complaints.length > 0 ? 'FAILED' : 'passed', ...verdict, notes, complaints, durationMs }
  } finally {
    await bench.close()
  }
}
