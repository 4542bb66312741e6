import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Benchmark, Settings } from './benchmark.ts'
import { create } from './benchmarks/create.ts'
import { dispatch } from './benchmarks/dispatch.ts'
import { events } from './benchmarks/events.ts'
import { gate } from './benchmarks/gate.ts'
import { growth } from './benchmarks/growth.ts'
import { jobQueues } from './benchmarks/job-queues.ts'
import { lag } from './benchmarks/lag.ts'
import { lightLoad } from './benchmarks/light-load.ts'
import { memory } from './benchmarks/memory.ts'
import { relay } from './benchmarks/relay.ts'
import { repositoryRoot } from './lab/child-process.ts'
import { openLab } from './lab/lab.ts'
import {
  describeMachine,
  meetsLimit,
  type StoredResult,
  storeResult,
  toSection,
  toSummary,
  writeDocs,
} from './report.ts'

/** Every benchmark, in the order in which they run and appear on the page. */
const allBenchmarks: readonly Benchmark[] = [
  ...[dispatch(50), dispatch(200), jobQueues(50), jobQueues(200), create, events, lag, lightLoad, relay],
  ...[growth, memory, gate],
]

if (process.platform !== 'linux') {
  console.error('The benchmarks read CPU time from /proc, so they run on Linux only.')
  process.exit(1)
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

try {
  const { values, positionals } = readArguments()
  const settings = {
    rounds: positive('--rounds', values.rounds) ?? 3,
    minutes: positive('--minutes', values.minutes),
    seconds: positive('--seconds', values.seconds) ?? 30,
    base: values.base ?? 'origin/main',
  }
  const chosen = chooseByName(positionals)
  const { results, broken } = await runBenchmarks(chosen, settings, values.profile)
  if (values['write-docs']) writeDocs(results)
  if (values.json) console.log(JSON.stringify(toSummary(results, broken)))
  const gates = chosen.filter(({ isGate }) => isGate).map(({ name }) => name)
  const isMissed = results.some(({ name, figures }) => gates.includes(name) && !figures.every(meetsLimit))
  process.exitCode = broken.length > 0 || isMissed ? 1 : 0
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}

function readArguments() {
  const [flag, text] = [{ type: 'boolean', default: false } as const, { type: 'string' } as const]
  return parseArgs({
    options: { json: flag, 'write-docs': flag, profile: flag, rounds: text, minutes: text, seconds: text, base: text },
    allowPositionals: true,
  })
}

function positive(name: string, text: string | undefined): number | null {
  if (text === undefined) return null
  const value = Number(text)
  if (!(value > 0)) throw new Error(`${name} needs a number greater than 0.`)
  return value
}

function chooseByName(names: readonly string[]): Benchmark[] {
  const known = allBenchmarks.map(({ name }) => name)
  const unknown = names.find(start => !known.some(name => name.startsWith(start)))
  if (unknown !== undefined) throw new Error(`There is no benchmark ${unknown}. There are: ${known.join(', ')}.`)
  return allBenchmarks.filter(
    ({ name, isGate }) => names.some(start => name.startsWith(start)) || (names.length === 0 && !isGate),
  )
}

// A benchmark that breaks does not end the others.
async function runBenchmarks(chosen: readonly Benchmark[], settings: Settings, withProfiles: boolean) {
  await using lab = await openLab(withProfiles ? join(repositoryRoot, 'bench/results/profiles') : null)
  const results: StoredResult[] = []
  const broken: string[] = []
  const machine = await describeMachine(lab)
  for (const { name, title, run } of chosen) {
    const beganAt = performance.now()
    try {
      const measuredAt = new Date().toISOString()
      const result = await run(lab, settings)
      const stored = { name, title, measuredAt, seconds: (performance.now() - beganAt) / 1000, machine, ...result }
      results.push(stored)
      storeResult(stored)
      console.log(toSection(stored))
    } catch (error) {
      broken.push(name)
      console.error(`${name} is broken:`, error)
    }
  }
  return { results, broken }
}
