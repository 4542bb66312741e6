import { copyFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '@belfry/embedded'
import { cpuPerOperation, type ProcessGroups, type Reading, readCpu, readMemory } from '@belfry/test-support/proc'
import { Agent, request } from 'undici'
import type { Benchmark, Figure } from '../benchmark.ts'
import { type ServiceName, startBelfry } from '../lab/belfry.ts'
import { apiKey, createTemplate, type Database, openDatabase, readValue } from '../lab/database.ts'
import { type Lab, requireCalls } from '../lab/lab.ts'
import { startBenchPostgres, startBenchRedis } from '../lab/servers.ts'
import { payload, requireRuns } from '../lab/tasks.ts'
import { interleave, measured, quantile, ratioOf } from '../measure/statistics.ts'
import type { JobQueueOptions } from '../programs/job-queue.ts'

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
const separate = belfryOf(['api', 'scheduler', 'dispatcher', 'dispatcher'])
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
    start: separate,
    withRedis: true,
    limits: { ...limits, memoryMb: 450 },
  },
  {
    key: 'light_no_redis',
    title: 'Belfry, separate services without Redis',
    start: separate,
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
      title: 'CPU of an event at 100 a second / that of pg-boss',
      side: side.title,
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
    title: what,
    side: title,
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

let started = 0

// A new installation with new servers, with the settings that `npm start` gives them: its memory, then idle for half of
// `seconds` once it is warm, then 10 and 100 events a second for `seconds` each. Rejects unless every event was delivered
// once and has one run.
async function measureSide(lab: Lab, side: Side, seconds: number): Promise<Load> {
  const folder = join(lab.folder, `installation-${++started}-`)
  await using postgres = await startBenchPostgres(`${folder}postgres`)
  await createTemplate(postgres)
  await using database = await openDatabase(postgres)
  await using redis = side.withRedis ? await startBenchRedis(`${folder}redis`) : null
  await using running = await side.start(lab, database, redis?.url ?? null)
  const groups = { node: running.pids, postgres: [postgres.pid], redis: redis ? [redis.pid] : [] }
  await sleep(settleMs)
  const memoryMb = sum(readMemory(groups))
  await holdRate(lab, running, groups, 100, warmUpEvents)
  await sleep(2 * settleMs)
  const before = readCpu(groups)
  await sleep(seconds * 500)
  const idleCpuPercent = sum(cpuPerOperation(before, readCpu(groups), seconds * 5_000))
  const at10 = await holdRate(lab, running, groups, 10, 10 * seconds)
  const at100 = await holdRate(lab, running, groups, 100, 100 * seconds)
  await requireRuns(database, warmUpEvents + 110 * seconds)
  return { memoryMb, idleCpuPercent, at10, at100 }
}

type Running = AsyncDisposable & { port: number; pids: number[] }
type Start = (lab: Lab, database: Database, redisUrl: string | null) => Promise<Running>

function belfryOf(services: ServiceName[]): Start {
  return (lab, database, redisUrl) => startBelfry(lab, database, { services, redisUrl, node: ownNode(lab) })
}

// One Node process with an endpoint and a worker.
function jobQueueOf(kind: 'pg-boss' | 'bullmq'): Start {
  return async (lab, database, redisUrl) => {
    const port = await freePort()
    const options: JobQueueOptions = {
      kind,
      redisUrl: redisUrl ?? '',
      databaseUrl: database.url,
      concurrency: 200,
      workspaceId: await readValue(database, 'SELECT id FROM workspaces LIMIT 1'),
      endpoint: { port, key: apiKey },
    }
    const child = await lab.startProgram('job-queue', options, ownNode(lab))
    child.channel.send('go')
    return { ...child, port, pids: [child.pid] }
  }
}

// A copy: its pages are shared only by the processes of the installation, so all of them count as its memory.
function ownNode({ folder }: Lab): string {
  const copy = join(folder, 'node')
  if (!existsSync(copy)) copyFileSync(process.execPath, copy)
  return copy
}

async function holdRate(
  lab: Lab,
  { port }: Running,
  groups: ProcessGroups,
  perSecond: number,
  events: number,
): Promise<AtRate> {
  const { counter } = lab.target
  counter.reset()
  const before = readCpu(groups)
  const sentAt = await publish(lab, port, perSecond, events)
  await counter.reached(events)
  await sleep(recordingMs)
  const cpuUs = sum(cpuPerOperation(before, readCpu(groups), events))
  const arrivals = await requireCalls(lab, events)
  const delaysMs = arrivals.map(([name, at]) => at - (sentAt[Number(name)] ?? Number.NaN))
  return { cpuUs, p50Ms: quantile(delaysMs, 0.5), p99Ms: quantile(delaysMs, 0.99) }
}

const dispatcher = new Agent({ connections: 50, pipelining: 1, keepAliveTimeout: 60_000 })
const headers = { 'content-type': 'application/json', 'x-api-key': apiKey }

// Publishes events without waiting for earlier answers, and returns when it sent each, in epoch milliseconds. Each event has
// a random time within its slot: at fixed intervals, all would meet a poller in the same phase.
function publish(lab: Lab, port: number, perSecond: number, count: number): Promise<number[]> {
  const send = async (_: unknown, number: number): Promise<number> => {
    const event = { topic: 'bench.event', target_url: lab.target.url(number), payload: JSON.parse(payload) as unknown }
    const body = JSON.stringify(event)
    await sleep(((number + Math.random()) * 1000) / perSecond)
    const sentAt = performance.timeOrigin + performance.now()
    const answer = await request(`http://127.0.0.1:${port}/api/events`, { method: 'POST', headers, body, dispatcher })
    const text = await answer.body.text()
    if (answer.statusCode !== 202) throw new Error(`An event was answered with ${answer.statusCode}: ${text}`)
    return sentAt
  }
  return Promise.all(Array.from({ length: count }, send))
}

function sum(byGroup: Reading): number {
  return Object.values(byGroup).reduce((total, value) => total + value, 0)
}
