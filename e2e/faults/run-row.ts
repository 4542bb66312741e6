import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { waitFor } from '@belfry/test-support/wait-for'
import { checkHistory, maxCommitsPerSecond, type Verdict, type Violation } from './check/check-history.ts'
import { formatHistory, type History } from './check/history.ts'
import { readHistory } from './check/read-history.ts'
import { findPreload } from './find-preload.ts'
import { cronJobId } from './fixture/api-operations.ts'
import { commitsAtRest } from './fixture/commits-at-rest.ts'
import { type Fixture, type FixtureOptions, openFixture } from './fixture/fixture.ts'
import type { Template } from './fixture/template.ts'
import { within } from './fixture/within.ts'
import type { Allowance, Row, RowResult } from './row.ts'

const maxHistories = 5

/** How rows run. */
export type RowOptions = {
  seed: number
  /** Whether the processes get a Redis. Default true. */
  withRedis?: boolean
  /** How long one row may take, from the first process to the last check. Default 8 minutes. */
  limitMs?: number
}

// The slowest row takes 133 s on an idle machine with two cores.
const defaultLimitMs = 8 * 60_000

/** Runs one row on its own fixture. Never rejects: each error becomes a complaint, and so does a row that hangs. */
export async function runRow(
  row: Row,
  template: Template,
  options: RowOptions & { logs: string },
  open: (template: Template, options: FixtureOptions) => Promise<Fixture> = openFixture,
): Promise<RowResult> {
  const { withRedis = true, logs } = options
  const began = performance.now()
  const result = (status: RowResult['status'], more: Partial<RowResult>): RowResult => ({
    ...{ row, status, tasks: 0, hits: 0, repeats: 0, latenessMs: 0, notes: [], complaints: [] },
    ...more,
    durationMs: Math.round(performance.now() - began),
  })
  if (row.needs && !findPreload(row.needs)) return result('not run', { notes: [`needs ${row.needs}`] })
  if (row.needsRoot && process.getuid?.() !== 0) return result('not run', { notes: ['needs root'] })
  if (row.aboutRedis && !withRedis) return result('not run', { notes: ['about Redis'] })
  let fixture: Fixture | undefined
  let outcome: { verdict?: Verdict; complaints: string[] }
  try {
    fixture = await open(template, {
      withRedis,
      persistRedis: row.persistRedis ?? false,
      ...(row.executionLimit === undefined ? {} : { executionLimit: row.executionLimit }),
    })
    outcome = await runAndJudge(row, fixture, options)
  } catch (error) {
    outcome = { complaints: [...(fixture?.failures ?? []), messageOf(error)] }
  }
  // The logs first: closing the fixture ends its processes.
  if (fixture && outcome.complaints.length > 0) await keepLogs(fixture, row.id, logs, outcome.complaints)
  await fixture?.close().catch(error => outcome.complaints.push(`While closing: ${messageOf(error)}`))
  const { verdict = {}, complaints } = outcome
  return result(complaints.length > 0 ? 'FAILED' : 'passed', { ...verdict, notes: fixture?.notes ?? [], complaints })
}

async function runAndJudge(row: Row, fixture: Fixture, { seed, limitMs = defaultLimitMs }: RowOptions) {
  const work = row.run(fixture, seed).then(allowance => judge(fixture, allowance))
  return within(
    limitMs,
    work,
    () => `row ${row.id}. It waited for ${fixture.waits().join('; ') || 'no call of the fixture'}`,
  )
}

/**
 * Waits until no task is due or in flight, and checks everything that was seen.
 * @param adapt - Changes the history before it is checked.
 */
export async function judge(
  fixture: Fixture,
  allowance: Allowance,
  adapt: (history: History) => History = history => history,
): Promise<{ verdict: Verdict; history: History; complaints: string[] }> {
  const complaints: string[] = []
  await stopCronJobs(fixture).catch(error => complaints.push(`I2: a cron job keeps running. ${error.message}`))
  await untilIdle(fixture, allowance.restMs ?? 60_000).catch(error => complaints.push(`I2: ${error.message}`))
  await fixture.charges.settled()
  const commitsPerSecond = await commitsAtRest(fixture, maxCommitsPerSecond)
  const history = adapt({ ...(await readHistory(fixture)), commitsPerSecond })
  const verdict = checkHistory(history, allowance)
  for (const { invariant, taskId, text } of ofEachKind(verdict.violations).slice(0, maxHistories)) {
    complaints.push(
      `${invariant}: ${taskId ?? 'in all,'} ${text}${taskId ? `\n${formatHistory(history, taskId)}` : ''}`,
    )
  }
  const more = verdict.violations.length - maxHistories
  if (more > 0) complaints.push(`and ${more} more violations`)
  return { verdict, history, complaints: [...fixture.failures, ...complaints] }
}

// The first violation of each invariant, and then the others.
function ofEachKind(violations: readonly Violation[]): Violation[] {
  const firsts = new Map(violations.toReversed().map(violation => [violation.invariant, violation]))
  return [...new Set([...firsts.values(), ...violations])]
}

// Pauses the active cron jobs: otherwise the row never ends. The row does not know the id of a cron job whose
// POST was not answered, so it is found in the database.
async function stopCronJobs(fixture: Fixture): Promise<void> {
  const unpaused = () =>
    fixture.sql<{ id: string; name: string }>('SELECT id, name FROM cron_jobs WHERE paused_at IS NULL ORDER BY id')
  await waitFor(
    async () => {
      for (const { id, name } of await unpaused()) {
        const job = fixture.cronJobs.find(({ path }) => path === name)
        if (!job) throw new Error(`No row has created the cron job ${name}.`)
        job.id ??= cronJobId(id)
        await fixture.operate(job, 'pause')
      }
      return unpaused()
    },
    left => left.length === 0,
    60_000,
  )
}

// Waits until no task is in flight, due soon or in a queue, and the target has not been called for a second.
async function untilIdle(fixture: Fixture, maxMs: number): Promise<void> {
  const text = `SELECT state, count(*)::int AS n FROM tasks
    WHERE state IN ('pending', 'processing', 'retrying')
      AND (due_at < clock_timestamp() + interval '2 minutes' OR queue_id IS NOT NULL) GROUP BY state`
  await waitFor(
    () => fixture.sql(text),
    open => open.length === 0,
    maxMs,
  )
  let count = -1
  let since = 0
  await waitFor(
    async () => {
      if (fixture.target.count() !== count) since = performance.now()
      count = fixture.target.count()
      return performance.now() - since
    },
    quietMs => quietMs >= 1_000,
  )
}

/** Writes the complaints and the output of all processes to a file. */
export async function keepLogs(fixture: Fixture, id: string, folder: string, complaints: string[]): Promise<void> {
  await mkdir(folder, { recursive: true })
  const logs = fixture.services.map(({ name, pid, output }) => `--- ${name} ${pid}\n${output}`)
  await writeFile(join(folder, `${id}.log`), [...complaints, ...logs].join('\n\n'))
}

function messageOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
