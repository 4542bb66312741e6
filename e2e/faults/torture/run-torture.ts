import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { startReceiver } from '@belfry/test-support'
import { waitFor } from '@belfry/test-support/wait-for'
import { callApi } from '../../api-calls.ts'
import { repositoryRoot } from '../../repository-root.ts'
import type { Verdict } from '../check/check-history.ts'
import type { Calm, History } from '../check/history.ts'
import { findPreload } from '../find-preload.ts'
import { readDatabaseClock, toDatabaseTime } from '../fixture/database-clock.ts'
import { type Fixture, openFixture } from '../fixture/fixture.ts'
import type { Template } from '../fixture/template.ts'
import { within } from '../fixture/within.ts'
import { judge, keepLogs } from '../run-row.ts'
import type { Fault, TorturePlan } from './plan.ts'
import { kindOf, queueNames, stored } from './plan-load.ts'
import { runLoad } from './run-load.ts'
import { startInstallation } from './seats.ts'
import { prepareServers, recoveryMs, releaseHeld, type Stage, type Struck, showTimeZones, strike } from './strike.ts'

export type TortureResult = {
  /** What was run of the plan: without the faults that this machine cannot make. */
  plan: TorturePlan
  struck: Struck[]
  /** When the target was called, in milliseconds from the start; in the order of the hits of `history`. */
  calledAt: number[]
  verdict: Verdict
  history: History
  /** How many calls of the API had an answer, by status. */
  statuses: Record<string, number>
  postgres: string
  redis: string
  notes: string[]
  complaints: string[]
}

const secret = 'a secret of the torture run'
const credentials = 'token-of-the-torture-run'
const restMs = 240_000
const atFirst = { aheadMs: 0, backup: null, lostCommits: null, heldInFlight: new Set<string>() }
// Until the processes have started, and from the last fault to the last check.
const maxOverheadMs = 15 * 60_000
const logs = join(repositoryRoot(), 'e2e/dist/torture')
// How many of the limited organization's tasks its quota covers.
const limitedShare = 0.6

/** Runs a plan against a whole installation, ends all faults, waits until it is at rest, and checks what was recorded. */
export async function runTorture(
  template: Template,
  given: TorturePlan,
  onFault: (line: string) => void,
): Promise<TortureResult> {
  const { plan, notes } = withoutImpossible(given)
  const limited = plan.load.filter(operation => operation.does === 'create' && operation.task.caller === 2).length
  const executionLimit = Math.max(1, Math.ceil(limited * limitedShare))
  const fixture = await openFixture(template, { persistRedis: true, executionLimit })
  const keep = (complaints: string[]) => keepLogs(fixture, `seed-${plan.seed}`, logs, complaints)
  try {
    const limitMs = plan.minutes * 60_000 + maxOverheadMs
    const waits = () => `the run. It waited for ${fixture.waits().join('; ')}`
    const result = await within(limitMs, runOn(fixture, plan, onFault), waits)
    if (result.complaints.length > 0) await keep(result.complaints)
    return { ...result, notes: [...notes, ...result.notes] }
  } catch (error) {
    await keep([String(error)])
    throw error
  } finally {
    await fixture.close()
  }
}

async function runOn(fixture: Fixture, plan: TorturePlan, onFault: (line: string) => void): Promise<TortureResult> {
  const servers = await prepareServers(fixture, plan)
  const installation = await startInstallation(fixture, plan)
  await storeCredentials(fixture)
  const beganAt = performance.now()
  const struck: Struck[] = []
  const stage: Stage = { fixture, installation, beganAt, struck, ...servers, ...atFirst }
  const delays = monitorEventLoopDelay()
  delays.enable()
  await Promise.all([
    runLoad(fixture, plan.load, { beganAt, aheadMs: () => stage.aheadMs }),
    strikeAll(stage, plan.faults, onFault),
  ])
  onFault('the faults are over')
  const delayMs = delays.percentile(99.9) / 1_000_000
  const showAgain = () =>
    showTimeZones(fixture).then(
      () => true,
      () => false,
    )
  await waitFor(showAgain, Boolean, 60_000)
  const ended = await fixture.count('cron_jobs WHERE paused_at IS NULL AND next_run_at IS NULL')
  fixture.demand(ended === 0, `${ended} active cron jobs have no next occurrence.`)
  const calm = await calmOf(stage, plan, delayMs)
  await resumeQueues(fixture)
  await releaseHeld(stage)
  const releasedAt = performance.now() - beganAt
  await untilOperationsEnd(fixture)
  const { lostCommits } = stage
  const { verdict, history, complaints } = await judge(
    fixture,
    { restMs, ...(lostCommits && { lostCommits }), latenessMs: maxLatenessOf(plan, struck, releasedAt, delayMs) },
    history => ({
      ...withoutPermits(history, stage.heldInFlight),
      calm,
      circuitsOpenMs: circuitsOpenMs(fixture.services),
    }),
  )
  const [server] = await fixture.sql<{ version: string }>(`SELECT current_setting('server_version') AS version`)
  return {
    ...{ plan, struck, verdict, history, statuses: countStatuses(fixture), notes: fixture.notes },
    complaints: [...complaints, ...(await checkCredentials(fixture))],
    calledAt: fixture.target.hits(at => at - beganAt).map(({ at }) => at),
    postgres: server?.version ?? '',
    redis: /redis_version:(\S+)/.exec(await fixture.redis.client.info('server'))?.[1] ?? '',
  }
}

// Checks the queues as if they did not have these tasks.
function withoutPermits(history: History, held: ReadonlySet<string>): History {
  return { ...history, tasks: history.tasks.map(task => (held.has(task.id) ? { ...task, queueId: null } : task)) }
}

// Clocks need libfaketime, and a full disk needs root.
function withoutImpossible(plan: TorturePlan): { plan: TorturePlan; notes: string[] } {
  const hasClock = findPreload('libfaketime.so.1') !== null
  const isRoot = process.getuid?.() === 0
  const faults = plan.faults.filter(({ does }) => (hasClock || !/clock/.test(does)) && (isRoot || does !== 'fill disk'))
  const left = plan.faults.length - faults.length
  return {
    plan: { ...plan, faults },
    notes: left === 0 ? [] : [`${left} faults need libfaketime or root, and were left out`],
  }
}

// Limits that hold only while nothing disturbs the dispatchers: the targets of the checker, in the database's time.
async function calmOf(
  { fixture, beganAt, struck }: Stage,
  { settings = {} }: TorturePlan,
  delayMs: number,
): Promise<Calm> {
  const { offset } = await readDatabaseClock(fixture.sql)
  const toDatabase = toDatabaseTime(fixture.clockReadings, offset)
  const limit = (name: string) => (settings[name] === undefined ? null : Number(settings[name]))
  return {
    disturbed: struck
      .filter(({ fault }) => fault.does !== 'flush Redis' && fault.does !== 'hide time zones')
      .map(({ from, until }) => ({
        from: toDatabase(beganAt + from),
        until: toDatabase(beganAt + until + recoveryMs),
      })),
    slackMs: 200 + 2 * delayMs,
    concurrency: limit('HOST_CONCURRENCY'),
    rate: limit('HOST_RATE'),
  }
}

// By how much the timers of this process are late says what the machine gives to all of them.
function maxLatenessOf(
  { settings = {}, faults, load }: TorturePlan,
  struck: readonly Struck[],
  releasedAt: number,
  delayMs: number,
): number {
  if (Object.keys(settings).length > 0) return Number.POSITIVE_INFINITY // tasks wait for their host
  const isPlain = load.every(one => one.does === 'create' && kindOf(one.task.path) === 'plain')
  // What waits is late by an outage of a server as long as it was, by a step of the clock, and until a restore's release.
  const excusedMs = struck.reduce((sum, { fault, from, until }) => {
    if ('process' in fault) return sum
    if (fault.does === 'step PostgreSQL clock') return sum + fault.stepS * 1_000
    return sum + (fault.does === 'restore' ? releasedAt : until) - from
  }, 0)
  return (isPlain && faults.every(({ does }) => does === 'clock') ? 2_000 : 60_000) + excusedMs + 5 * delayMs
}

// Where most calls of a workspace fail, its circuit breaker opens: the longest sum of a workspace.
function circuitsOpenMs(services: ReadonlyArray<{ output: string }>): number {
  const sums = new Map<string, number>()
  for (const { output } of services)
    for (const line of output.split('\n').filter(text => text.includes('"circuit.opened"'))) {
      const { workspace, openMs } = JSON.parse(line) as { workspace: string; openMs: number }
      sums.set(workspace, (sums.get(workspace) ?? 0) + openMs)
    }
  return Math.max(0, ...sums.values())
}

async function strikeAll(stage: Stage, faults: readonly Fault[], onFault: (line: string) => void): Promise<void> {
  const { beganAt } = stage
  // One fault at a time for each process, and one for the servers.
  const lanes = new Map<string, Promise<void>>()
  const inFlight: Array<Promise<void>> = []
  for (const fault of faults) {
    await sleep(Math.max(0, beganAt + fault.at - performance.now()))
    const lane = 'process' in fault ? fault.process : fault.does === 'hide time zones' ? fault.does : 'servers'
    const done = (lanes.get(lane) ?? Promise.resolve()).then(async () => {
      const struck: Struck = { fault, from: performance.now() - beganAt, until: Number.POSITIVE_INFINITY }
      stage.struck.push(struck)
      onFault(describeFault(fault))
      await strike(stage, fault).catch(error => stage.fixture.demand(false, `${describeFault(fault)}: ${error.stack}`))
      struck.until = performance.now() - beganAt
    })
    lanes.set(lane, done)
    inFlight.push(done)
  }
  await Promise.all(inFlight)
}

/** Describes a fault in a line. */
export function describeFault(fault: Fault): string {
  const { at: _, forMs, does, ...rest } = fault
  const words = Object.values(rest).map(value =>
    typeof value === 'object' ? Object.values(value).join(' ').replace('_', ' ') : String(value),
  )
  return `${[does, ...words].join(' ')}${forMs === 0 ? '' : `, for ${(forMs / 1_000).toFixed(1)} s`}`
}

async function storeCredentials(fixture: Fixture): Promise<void> {
  // A slow token endpoint, whose tokens live for less than the run.
  const tokens = await startReceiver({
    otherwise: {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ access_token: credentials, token_type: 'Bearer', expires_in: 6 }),
      delayMs: 3_000,
    },
  })
  fixture.onClose(() => tokens.close())
  const [caller = {}] = fixture.callers
  const put = async (path: string, body: unknown) => {
    const answer = await callApi(fixture.url, caller, 'PUT', `/api/v1/workspaces/current/${path}`, body)
    if (answer.status > 299) throw new Error(`${path} was not stored: ${answer.text}`)
  }
  const hosts = [new URL(fixture.target.url('/')).host]
  await put(`secrets/${stored.secret}`, { value: secret })
  await put(`connections/${stored.header}`, { kind: 'header', hosts, value: credentials })
  const client = { client_id: 'torture', client_secret: secret }
  await put(`connections/${stored.oauth}`, { kind: 'oauth2', hosts, token_url: tokens.url('/token'), ...client })
}

// Every call has the secret and the credentials that its task names.
async function checkCredentials({ target, count }: Fixture): Promise<string[]> {
  const calls = target.requestsTo(/^\/(secret|connected)-/)
  const wrong = calls.filter(({ path, rawHeaders, body }) => {
    if (kindOf(path) === 'secret') return !rawHeaders.includes(secret) || !body.includes(secret)
    return !rawHeaders.some(value => value.endsWith(credentials))
  })
  const failed = await count(`runs WHERE error_code = 'connection_failed'`)
  const isToken = (value: string) => value === `Bearer ${credentials}`
  const hasToken = target.requestsTo(/^\/(rated|connected)-/).some(({ rawHeaders }) => rawHeaders.some(isToken))
  return [
    ...wrong.map(({ path }) => `${path} was called without its secret or connection.`),
    ...(failed > 0 && !hasToken ? ['No connection has had an access token.'] : []),
  ]
}

async function resumeQueues(fixture: Fixture): Promise<void> {
  for (const name of queueNames) {
    await waitFor(
      () => fixture.operateQueue(name, 'resume'),
      ({ status }) => status === 200 || status === 404,
      60_000,
    )
  }
}

async function untilOperationsEnd(fixture: Fixture): Promise<void> {
  const running = () => fixture.count('bulk_operations WHERE finished_at IS NULL')
  await waitFor(running, count => count === 0, 120_000).catch(() =>
    fixture.demand(false, 'A bulk operation has not ended.'),
  )
}

function countStatuses(fixture: Fixture): Record<string, number> {
  const { creates, cancels, stops, changes, queueOperations, cronJobs } = fixture
  const operations = cronJobs.flatMap(job => job.operations)
  const counts: Record<string, number> = {}
  for (const { status } of [...creates, ...cancels, ...stops, ...changes, ...queueOperations, ...operations])
    counts[status] = (counts[status] ?? 0) + 1
  return counts
}
