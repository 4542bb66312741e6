import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { waitFor } from '@belfry/test-support/wait-for'
import type { Child } from '../lab/child-process.ts'
import { readRow } from '../lab/database.ts'
import type { Lab } from '../lab/lab.ts'
import { numberMark } from '../lab/parent.ts'
import { payload } from '../lab/tasks.ts'
import { type CpuReading, cpuPerOperation, readCpu } from '../measure/cpu-time.ts'
import { type MemoryReading, readMemory } from '../measure/memory.ts'
import { readServerCounts, type ServerCounts } from '../measure/server-counts.ts'
import { quantile } from '../measure/statistics.ts'
import type { SteadyLoadOptions, SteadyLoadOrder, SteadyLoadReport } from '../programs/steady-load.ts'
import type { SmallInstallation, StartInstallation } from './small-installation.ts'

/** What all processes of an installation used over some seconds. */
export type Usage = { seconds: number; cpuUs: CpuReading } & ServerCounts

/** The usage at a steady rate, and how long events took from the sending of the request to the arrival at the target. */
export type RateUsage = Usage & { events: number; p50Ms: number; p99Ms: number }

export type SmallLoad = {
  /** A few seconds after the start. */
  memoryFresh: MemoryReading
  memoryAfter: MemoryReading
  idle: Usage
  at10: RateUsage
  at100: RateUsage
}

const settleMs = 5_000
const warmUp = { perSecond: 100, count: 500 }
// A PostgreSQL backend that is idle for ten seconds has reported all its transactions.
const reportingMs = 11_000
// After an event has arrived, its run is stored and its job ends.
const recordingMs = 500

/**
 * Measures a new installation: its memory, then idle for half of `seconds` once it is warm, then 10 and 100 events a second
 * for `seconds` each. Rejects unless every event was delivered once and has one run.
 */
export async function measureSmallLoad(lab: Lab, start: StartInstallation, seconds: number): Promise<SmallLoad> {
  const installation = await start(lab)
  try {
    await sleep(settleMs)
    const memoryFresh = readMemory(installation.groups)
    const load = await startLoad(lab, installation)
    const hold = (perSecond: number) => holdRate(lab, installation, load, { perSecond, count: perSecond * seconds })
    try {
      await holdRate(lab, installation, load, warmUp)
      await sleep(reportingMs)
      const idle = await measureUsage(installation, () => sleep((seconds * 1000) / 2))
      const at10 = await hold(10)
      const at100 = await hold(100)
      const memoryAfter = readMemory(installation.groups)
      await requireRuns(installation, warmUp.count + at10.events + at100.events)
      return { memoryFresh, memoryAfter, idle, at10, at100 }
    } finally {
      await load.stop()
    }
  } finally {
    await installation.stop()
  }
}

async function startLoad(lab: Lab, { apiUrl, createApiKey }: SmallInstallation): Promise<Child> {
  const data = JSON.parse(payload) as unknown
  const argument: SteadyLoadOptions = {
    url: `${apiUrl}/api/events`,
    headers: { 'content-type': 'application/json', 'x-api-key': await createApiKey() },
    body: JSON.stringify({ topic: 'bench.event', target_url: lab.target.url(numberMark), payload: data }),
  }
  return lab.startProgram('steady-load', argument)
}

async function holdRate(
  { target: { counter } }: Lab,
  installation: SmallInstallation,
  { channel }: Child,
  order: SteadyLoadOrder,
): Promise<RateUsage> {
  counter.reset()
  let sentAt: number[] = []
  const usage = await measureUsage(installation, async () => {
    const ended = once(channel, 'exit').then(() => {
      throw new Error('The load generator has ended; see its log.')
    })
    channel.send(order)
    const [report] = (await Promise.race([once(channel, 'message'), ended])) as [SteadyLoadReport]
    sentAt = report.sentAt
    await counter.reached(order.count)
    await sleep(recordingMs)
  })
  const { count, arrivals } = await counter.collect()
  if (count !== order.count) throw new Error(`The target was called ${count} times instead of ${order.count}.`)
  const delaysMs = arrivals.map(([name, at]) => at - (sentAt[Number(name)] ?? Number.NaN))
  return { ...usage, events: order.count, p50Ms: quantile(delaysMs, 0.5), p99Ms: quantile(delaysMs, 0.99) }
}

async function measureUsage({ groups, database, redis }: SmallInstallation, run: () => Promise<void>): Promise<Usage> {
  const read = () => readServerCounts(database.url, redis?.client ?? null)
  const counts = await read()
  const before = { at: performance.now(), cpu: readCpu(groups) }
  await run()
  const after = { at: performance.now(), cpu: readCpu(groups) }
  const { transactions, redisCommands } = await read()
  return {
    seconds: (after.at - before.at) / 1000,
    cpuUs: cpuPerOperation(before.cpu, after.cpu, 1), // all of it
    transactions: transactions - counts.transactions,
    redisCommands: redisCommands - counts.redisCommands,
  }
}

async function requireRuns({ database }: SmallInstallation, expected: number): Promise<void> {
  const text = `SELECT count(*)::int AS runs FROM runs WHERE status = 'success'`
  const { runs } = await waitFor(
    () => readRow<{ runs: number }>(database, text),
    seen => seen.runs >= expected,
    60_000,
  )
  if (runs !== expected) throw new Error(`${expected} events have ${runs} runs.`)
}
