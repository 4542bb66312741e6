import type { Benchmark, Settings } from './benchmarks/benchmark.ts'
import { openLab } from './lab/lab.ts'
import { createRounds, disturbanceNote } from './measure/rounds.ts'
import { describeMachine } from './report/machine.ts'
import { toTable } from './report/print.ts'
import { type StoredResult, storeResult } from './report/results.ts'

/** Runs benchmarks one after another, and prints and keeps the result of each. One that breaks does not end the rest. */
export async function runBenchmarks(
  chosen: readonly Benchmark[],
  asked: Pick<Settings, 'minutes' | 'seconds'> & { rounds: number },
  profileFolder: string | null,
): Promise<{ results: StoredResult[]; broken: string[] }> {
  const lab = await openLab(profileFolder)
  const results: StoredResult[] = []
  const broken: string[] = []
  try {
    const machine = await describeMachine(lab)
    for (const { name, title, run } of chosen) {
      const beganAt = performance.now()
      try {
        const measuredAt = new Date().toISOString()
        const rounds = createRounds(asked.rounds)
        const result = await run(lab, { ...asked, rounds })
        const notes = [...(result.notes ?? []), ...disturbanceNote(rounds)]
        const seconds = (performance.now() - beganAt) / 1000
        const { kept, setAside } = rounds
        const stored = { name, title, measuredAt, seconds, machine, ...result, notes, stolen: { kept, setAside } }
        results.push(stored)
        storeResult(stored)
        console.log(`${toTable(stored)}\n`)
      } catch (error) {
        broken.push(name)
        console.error(`${name} is broken:`, error)
      }
    }
  } finally {
    await lab.close()
  }
  return { results, broken }
}
