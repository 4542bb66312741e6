import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { copyFileSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '@belfry/embedded'
import { waitFor } from '@belfry/test-support/wait-for'
import type { Benchmark, Figure } from '../benchmark.ts'
import { createApiKey, type ServiceName, startBelfry } from '../lab/belfry.ts'
import type { Child } from '../lab/child-process.ts'
import { numberMark } from '../lab/child-side.ts'
import { createTemplate, type Database, openDatabase, readRow } from '../lab/database.ts'
import type { Lab } from '../lab/lab.ts'
import { startBenchPostgres, startBenchRedis } from '../lab/servers.ts'
import { payload } from '../lab/tasks.ts'
import { cpuPerOperation, type ProcessGroups, type Reading, readCpu, readMemory } from '../measure/proc.ts'
import { interleave, measured, quantile, ratioOf } from '../measure/statistics.ts'
import type { JobQueueOptions } from '../programs/job-queue.ts'
import type { SteadyLoadOptions, SteadyLoadReport } from '../programs/steady-load.ts'

/** A small installation of a product that takes events at `POST /api/events` and delivers each to its target. */
type Side = {
  /** The first part of each key. */
  key: string
  title: string
  start: Start
  withRedis: boolean
  limits?: { p99Ms: number; idleCpuPercent: number; memoryMb?: number }
}

// As docker-compose.yml starts them.
const separate: ServiceName[] = ['api', 'scheduler', 'dispatcher', 'dispatcher']
const limits = { p99Ms: 8, idleCpuPercent: 1.5 }

const belfry: Side[] = [
  {
    key: 'light_one_process',
    title: 'Belfry, one process without Redis',
    start: belfryOf(['all-in-one']),
    withRedis: false,
    limits: { ...limits, memoryMb: 300 },
  },
  {
    key: 'light',
    title: 'Belfry, separate services with Redis',
    start: belfryOf(separate),
    withRedis: true,
    limits: { ...limits, memoryMb: 450 },
  },
  {
    key: 'light_no_redis',
    title: 'Belfry, separate services without Redis',
    start: belfryOf(separate),
    withRedis: false,
    limits,
  },
]
const pgBoss: Side = { key: 'light_pgboss', title: 'pg-boss', start: jobQueueOf('pg-boss'), withRedis: false }
const bullmq: Side = { key: 'light_bullmq', title: 'BullMQ', start: jobQueueOf('bullmq'), withRedis: true }
const sides = [...belfry, pgBoss, bullmq]

/** Measures what a small installation costs: idle, and at 10 and 100 events a second. */
export const lightLoad: Benchmark = {
  name: 'light-load',
  title: 'A small installation: idle, and at 10 and 100 events a second',
  async run(lab, { rounds, seconds }) {
    const measures = sides.map(side => [side.key, () => measureSide(lab, side, seconds)] as const)
    const loads: Record<string, Load[]> = await interleave(Object.fromEntries(measures), rounds)
    const of = ({ key }: Side) => loads[key] ?? []
    const cpuAt100 = (side: Side) => of(side).map(({ at100 }) => at100.cpuUs)
    const ratios = belfry.map(side => ({
      key: `${side.key}_cpu_vs_pgboss_100`,
      title: `${side.title}: CPU of an event at 100 a second / that of pg-boss`,
      ...ratioOf(cpuAt100(side), cpuAt100(pgBoss)),
      limit: { atMost: 1 },
    }))
    return {
      rounds: loads,
      notes: [`Each rate was held for ${seconds} s.`],
      figures: [...ratios, ...sides.flatMap(side => figuresOf(side, of(side)))],
    }
  },
}

/** CPU microseconds of an event, idle time included, and its milliseconds from the sending to the arrival at the target. */
type AtRate = { cpuUs: number; p50Ms: number; p99Ms: number }

type Load = { memoryMb: number; idleCpuPercent: number; at10: AtRate; at100: AtRate }

function figuresOf({ key, title, limits }: Side, loads: readonly Load[]): Figure[] {
  const figure = (name: string, what: string, unit: string, of: (load: Load) => number, atMost?: number): Figure => ({
    key: `${key}_${name}`,
    title: `${title}: ${what}`,
    unit,
    ...measured(loads.map(of)),
    ...(atMost !== undefined && { limit: { atMost } }),
  })
  return [
    figure('cpu_us_10', 'CPU of an event at 10 a second, all processes', 'us', ({ at10 }) => at10.cpuUs),
    figure('cpu_us_100', 'the same at 100 a second', 'us', ({ at100 }) => at100.cpuUs),
    figure('p50_100_ms', 'from sending to arrival at 100 a second, median', 'ms', ({ at100 }) => at100.p50Ms),
    figure('p99_100_ms', 'the same, 99 of 100 events', 'ms', ({ at100 }) => at100.p99Ms, limits?.p99Ms),
    figure('idle_cpu_percent', 'CPU while idle, of one core', '%', load => load.idleCpuPercent, limits?.idleCpuPercent),
    figure('memory_mb', 'memory soon after the start', 'MB', ({ memoryMb }) => memoryMb, limits?.memoryMb),
  ]
}

const settleMs = 5_000
const warmUpEvents = 500
// After an event has arrived, its run is stored and its job ends.
const recordingMs = 500

// Its memory, then idle for half of `seconds` once it is warm, then 10 and 100 events a second for `seconds` each. Rejects
// unless every event was delivered once and has one run.
async function measureSide(lab: Lab, side: Side, seconds: number): Promise<Load> {
  const installation = await startInstallation(lab, side)
  const { groups, database } = installation
  try {
    await sleep(settleMs)
    const memoryMb = sum(readMemory(groups))
    const load = await startLoad(lab, installation)
    try {
      await holdRate(lab, groups, load, 100, warmUpEvents)
      await sleep(2 * settleMs)
      const before = readCpu(groups)
      await sleep(seconds * 500)
      const idleCpuPercent = sum(cpuPerOperation(before, readCpu(groups), seconds * 5_000))
      const at10 = await holdRate(lab, groups, load, 10, 10 * seconds)
      const at100 = await holdRate(lab, groups, load, 100, 100 * seconds)
      await requireRuns(database, warmUpEvents + 110 * seconds)
      return { memoryMb, idleCpuPercent, at10, at100 }
    } finally {
      await load.stop()
    }
  } finally {
    await installation.stop()
  }
}

type Running = { apiUrl: string; key: string; pids: number[]; stop(): Promise<void> }
type Installation = Running & { database: Database; groups: ProcessGroups }

let started = 0

// On new servers, with the settings that `npm start` gives them.
async function startInstallation(lab: Lab, { start, withRedis }: Side): Promise<Installation> {
  started += 1
  const folders = ['postgres', 'redis'].map(name => join(lab.folder, `${name}-${started}`))
  const [postgresFolder = '', redisFolder = ''] = folders
  const postgres = await startBenchPostgres(postgresFolder)
  await createTemplate(postgres)
  const database = await openDatabase(postgres)
  const redis = withRedis ? await startBenchRedis(redisFolder) : null
  const close = async () => {
    await redis?.stop()
    await database.close()
    await postgres.stop()
    for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  try {
    const running = await start(lab, database, redis?.url ?? null)
    const groups = { node: running.pids, postgres: [postgres.pid], redis: redis ? [redis.pid] : [] }
    return { ...running, database, groups, stop: () => running.stop().then(close) }
  } catch (error) {
    await close()
    throw error
  }
}

type Start = (lab: Lab, database: Database, redisUrl: string | null) => Promise<Running>

function belfryOf(services: ServiceName[]): Start {
  return async (lab, database, redisUrl) => {
    const { apiUrl, pids, stop } = await startBelfry(lab, database, { services, redisUrl, node: ownNode(lab) })
    return { apiUrl, key: await createApiKey(apiUrl), pids: [...new Set(services)].flatMap(pids), stop }
  }
}

// One Node process with an endpoint and a worker.
function jobQueueOf(kind: 'pg-boss' | 'bullmq'): Start {
  return async (lab, database, redisUrl) => {
    const [port, key] = [await freePort(), randomBytes(24).toString('hex')]
    const { id } = await readRow<{ id: string }>(database, 'SELECT id FROM workspaces LIMIT 1')
    const options: JobQueueOptions = {
      kind,
      redisUrl: redisUrl ?? '',
      databaseUrl: database.url,
      concurrency: 200,
      workspaceId: id,
      endpoint: { port, key },
    }
    const { pid, channel, stop } = await lab.startProgram('job-queue', options, ownNode(lab))
    channel.send('go')
    return { apiUrl: `http://127.0.0.1:${port}`, key, pids: [pid], stop }
  }
}

// A copy: its pages are shared only by the processes of the installation, so all of them count as its memory.
function ownNode({ folder }: Lab): string {
  const copy = join(folder, 'node')
  if (!existsSync(copy)) copyFileSync(process.execPath, copy)
  return copy
}

function startLoad(lab: Lab, { apiUrl, key }: Installation): Promise<Child> {
  const data = JSON.parse(payload) as unknown
  const argument: SteadyLoadOptions = {
    url: `${apiUrl}/api/events`,
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    body: JSON.stringify({ topic: 'bench.event', target_url: lab.target.url(numberMark), payload: data }),
  }
  return lab.startProgram('steady-load', argument)
}

async function holdRate(
  { target: { counter } }: Lab,
  groups: ProcessGroups,
  { channel }: Child,
  perSecond: number,
  events: number,
): Promise<AtRate> {
  counter.reset()
  const before = readCpu(groups)
  const ended = once(channel, 'exit').then(() => {
    throw new Error('The load generator has ended; see its log.')
  })
  channel.send({ perSecond, count: events })
  const [{ sentAt }] = (await Promise.race([once(channel, 'message'), ended])) as [SteadyLoadReport]
  await counter.reached(events)
  await sleep(recordingMs)
  const cpuUs = sum(cpuPerOperation(before, readCpu(groups), events))
  const { count, arrivals } = await counter.collect()
  if (count !== events) throw new Error(`The target was called ${count} times instead of ${events}.`)
  const delaysMs = arrivals.map(([name, at]) => at - (sentAt[Number(name)] ?? Number.NaN))
  return { cpuUs, p50Ms: quantile(delaysMs, 0.5), p99Ms: quantile(delaysMs, 0.99) }
}

async function requireRuns(database: Database, expected: number): Promise<void> {
  const text = `SELECT count(*)::int AS runs FROM runs WHERE status = 'success'`
  const { runs } = await waitFor(
    () => readRow<{ runs: number }>(database, text),
    seen => seen.runs >= expected,
    60_000,
  )
  if (runs !== expected) throw new Error(`${expected} events have ${runs} runs.`)
}

function sum(byGroup: Reading): number {
  return Object.values(byGroup).reduce((total, value) => total + value, 0)
}
