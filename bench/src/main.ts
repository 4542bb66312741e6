import { join } from 'node:path'
import { chooseByName, readArguments } from './arguments.ts'
import type { Benchmark, Settings } from './benchmark.ts'
import { create } from './benchmarks/create.ts'
import { dispatch } from './benchmarks/dispatch.ts'
import { growth } from './benchmarks/growth.ts'
import { jobQueues } from './benchmarks/job-queues.ts'
import { lag } from './benchmarks/lag.ts'
import { large } from './benchmarks/large.ts'
import { lightLoad } from './benchmarks/light-load.ts'
import { memory } from './benchmarks/memory.ts'
import { month } from './benchmarks/month.ts'
import { statistics } from './benchmarks/statistics.ts'
import { storedLog } from './benchmarks/stored-log.ts'
import { withoutRedis } from './benchmarks/without-redis.ts'
import { repositoryRoot } from './lab/child-process.ts'
import { openLab } from './lab/lab.ts'
import { describeMachine } from './report/machine.ts'
import { type StoredResult, storeResult, writeDocs } from './report/results.ts'
import { toSummary } from './report/summary.ts'
import { toTable } from './report/table.ts'

/** Every benchmark, in the order in which they run and appear on the page. */
const allBenchmarks: readonly Benchmark[] = [
  ...[dispatch(50), dispatch(200), jobQueues(50), jobQueues(200), withoutRedis],
  ...[statistics, create, lag, lightLoad, growth, large, month, storedLog, memory],
]

if (process.platform !== 'linux') {
  console.error('The benchmarks read CPU time from /proc, so they run on Linux only.')
  process.exit(1)
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

try {
  const args = readArguments(process.argv.slice(2))
  const chosen = chooseByName(allBenchmarks, args.names)
  const { results, broken } = await runBenchmarks(chosen, args, args.profile)
  if (args.writeDocs) writeDocs(allBenchmarks.map(({ name }) => name))
  if (args.json) console.log(JSON.stringify(toSummary(results, broken)))
  process.exitCode = broken.length === 0 ? 0 : 1
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}

// A benchmark that breaks does not end the others.
async function runBenchmarks(
  chosen: readonly Benchmark[],
  settings: Settings,
  withProfiles: boolean,
): Promise<{ results: StoredResult[]; broken: string[] }> {
  const lab = await openLab(withProfiles ? join(repositoryRoot, 'bench/results/profiles') : null)
  const results: StoredResult[] = []
  const broken: string[] = []
  try {
    const machine = await describeMachine(lab)
    for (const { name, title, run } of chosen) {
      const beganAt = performance.now()
      try {
        const measuredAt = new Date().toISOString()
        const result = await run(lab, settings)
        const stored = { name, title, measuredAt, seconds: (performance.now() - beganAt) / 1000, machine, ...result }
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
