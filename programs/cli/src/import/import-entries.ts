import { parseJson } from '@belfry/client'
import { describeCron } from '@belfry/domain/cron/describe-cron'
import { parseCron } from '@belfry/domain/cron/parse-cron'
import { isTimeZone } from '@belfry/domain/cron/zone-pieces'
import type { Fields } from '../configuration/kinds.ts'
import type { Live } from '../configuration/plan.ts'
import { writeConfiguration } from '../configuration/write-configuration.ts'
import type { Context } from '../context.ts'
import { readInput } from '../read-input.ts'
import { UsageError } from '../usage-error.ts'
import { type Carried, carryOut, findExisting } from './carry-out.ts'
import { fingerprintOf } from './fingerprint.ts'
import { type Imported, type ImportedEntry, ImportRefusal } from './planned-job.ts'
import { readCrontab } from './read-crontab.ts'
import { readQstash } from './read-qstash.ts'

/** The options of `belfry import`. */
export type Flags = { dryRun?: boolean; toFile?: boolean; skipRefused?: boolean; paused?: boolean }
/** The options of `belfry import crontab`. */
export type CrontabFlags = Flags & { timezone?: string; users?: boolean }

/** Imports a crontab; calls `fail` when entries are refused and `--skip-refused` is missing. */
export async function importCrontab(ctx: Context, file: string, flags: CrontabFlags, fail: () => void): Promise<void> {
  const timezone = flags.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone
  if (!isTimeZone(timezone)) throw new UsageError(`${timezone} is not a time zone, such as Europe/Berlin.`)
  const options = { timezone, hasUsers: flags.users ?? false }
  await importEntries(ctx, file, flags, text => readCrontab(text, options), fail)
}

/** Imports schedules of QStash; calls `fail` when entries are refused and `--skip-refused` is missing. */
export function importQstash(ctx: Context, file: string, flags: Flags, fail: () => void): Promise<void> {
  return importEntries(ctx, file, flags, readQstash, fail)
}

async function importEntries(
  ctx: Context,
  file: string,
  flags: Flags,
  read: (text: string) => ImportedEntry[],
  fail: () => void,
): Promise<void> {
  const source = file === '-' ? 'standard input' : file
  const entries = await readEntries(ctx, file, read)
  const planned = entries.flatMap(entry => ('job' in entry ? [entry] : []))
  const refused = entries.flatMap(entry => ('refusal' in entry ? [entry] : []))
  for (const { place, refusal } of refused) ctx.stderr.write(`${source}, ${place}: ${refusal}\n`)
  if (refused.length > 0 && !flags.skipRefused) fail()
  if (refused.length > 0 && !flags.dryRun && !flags.skipRefused) {
    const others = planned.length === 0 ? '' : ` Fix them, or create the other ${planned.length} with --skip-refused.`
    ctx.stderr.write(`Nothing was created.${others}\n`)
    return
  }
  const wanted = planned.map(entry => ({ ...entry, isPaused: entry.isPaused || flags.paused === true }))
  if (flags.toFile) {
    ctx.stdout.write(writeConfiguration('main', wanted.map(toLiveJob), { secrets: [], connections: [] }))
    return
  }
  const counts: Record<Carried['outcome'], number> = { created: 0, existing: 0, 'would be created': 0 }
  for await (const carried of flags.dryRun ? foresee(ctx, wanted) : make(ctx, wanted)) {
    counts[carried.outcome] += 1
    ctx.out.show(toJson(carried), describe(ctx, carried))
  }
  const summary = Object.entries(counts).flatMap(([outcome, count]) => (count > 0 ? [`${count} ${outcome}`] : []))
  if (refused.length > 0) summary.push(`${refused.length} refused`)
  ctx.out.say(summary.join(', ') || 'Nothing to import.')
}

// A cron job as the HTTP API would show it.
function toLiveJob({ job: { targetUrl, payload, ...rest }, isPaused }: Imported, i: number): Live {
  const snake = (fields: object): Fields =>
    Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [
        name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`),
        name === 'retry' ? snake(value as object) : value,
      ]),
    )
  const body = payload === undefined ? {} : { payload: parseJson(String(payload)) }
  const id = String(i).padStart(6, '0') // keeps the order of the entries
  return { kind: 'cron_job', id, key: null, fields: { ...snake(rest), url: targetUrl, ...body }, isPaused }
}

async function readEntries(ctx: Context, file: string, read: (text: string) => ImportedEntry[]) {
  const text = await readInput(ctx, file)
  try {
    return read(text)
  } catch (error) {
    if (error instanceof ImportRefusal) throw new UsageError(`${file}: ${error.message}`)
    throw error
  }
}

async function* make(ctx: Context, entries: readonly Imported[]): AsyncGenerator<Carried> {
  const belfry = ctx.belfry()
  yield* carryOut(belfry, entries, await findExisting(belfry, ctx.signal), ctx.signal)
}

// Works without a Belfry server. With a key it also finds existing cron jobs.
async function* foresee(ctx: Context, entries: readonly Imported[]): AsyncGenerator<Carried> {
  const existing = ctx.canSignIn ? await findExisting(ctx.belfry(), ctx.signal) : new Map()
  const seen = new Set(existing.keys())
  for (const entry of entries) {
    const fingerprint = fingerprintOf(entry.job)
    const outcome = seen.has(fingerprint) ? 'existing' : 'would be created'
    yield { ...entry, outcome, cronJob: existing.get(fingerprint) ?? null }
    seen.add(fingerprint)
  }
}

function toJson({ place, outcome, job, isPaused, notes, cronJob }: Carried): object {
  return { place, outcome, id: cronJob?.id ?? null, job, paused: isPaused, notes }
}

function describe(ctx: Context, { place, outcome, job, isPaused, notes, cronJob }: Carried): string {
  const parsed = parseCron(job.cron)
  const inWords = parsed.ok ? describeCron(parsed.cron) : ''
  const lines = [
    `${place}: ${outcome}${cronJob ? ` ${cronJob.id}` : ''}${isPaused ? ' (paused)' : ''}`,
    `  ${job.method} ${job.targetUrl}`,
    `  ${job.cron}  ${job.timezone}  ${inWords}`,
    ...Object.entries(job.headers ?? {}).map(([name, value]) => `  ${name}: ${value}`),
    ...(job.payload === undefined ? [] : [`  ${job.payload}`]),
    ...(job.timeoutMs === undefined ? [] : [`  at most ${job.timeoutMs} ms per attempt`]),
    ...(job.retry?.maxRetries === undefined ? [] : [`  ${job.retry.maxRetries} retries`]),
    ...notes.map(note => ctx.out.paint(`  note: ${note}`, 'yellow')),
  ]
  return lines.join('\n')
}
