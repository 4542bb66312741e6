import { join } from 'node:path'
import { chooseByName, readArguments } from './arguments.ts'
import { allBenchmarks } from './benchmarks/all-benchmarks.ts'
import { repositoryRoot } from './lab/places.ts'
import { toSummary } from './report/summary.ts'
import { writeDocs } from './report/write-docs.ts'
import { runBenchmarks } from './run-benchmarks.ts'

if (process.platform !== 'linux') {
  console.error('The benchmarks read CPU time from /proc, so they run on Linux only.')
  process.exit(1)
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

try {
  const args = readArguments(process.argv.slice(2))
  const chosen = chooseByName(allBenchmarks, args.names)
  const profileFolder = args.profile ? join(repositoryRoot, 'bench/results/profiles') : null
  const { results, broken } = await runBenchmarks(chosen, args, profileFolder)
  if (args.writeDocs) writeDocs()
  if (args.json) console.log(JSON.stringify(toSummary(results, broken)))
  process.exitCode = broken.length === 0 ? 0 : 1
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
