import { stringifyJson } from '@belfry/client'
import { describeCron } from '@belfry/domain/cron/describe-cron'
import { parseCron } from '@belfry/domain/cron/parse-cron'
import { secretNames } from '@belfry/domain/secrets/secret-reference'
import { hostOf } from '@belfry/domain/target-url'
import { canonical } from '../canonical.ts'
import { create, finish, isUnfinished } from '../configuration/apply-plan.ts'
import type { Fields } from '../configuration/kinds.ts'
import { readLive, readNames } from '../configuration/read-live.ts'
import { writeConfiguration } from '../configuration/write-configuration.ts'
import type { Context } from '../context.ts'
import { readInput } from '../read-input.ts'
import { UsageError } from '../usage-error.ts'
import { type Entry, type Importable, ImportRefusal, type Read, type SourceFlags } from './entry.ts'
import { nameSecrets } from './name-secrets.ts'

export type Flags = SourceFlags & { dryRun?: boolean; toFile?: boolean; skipRefused?: boolean; paused?: boolean }

/** Returns the reader of a source that is one text. */
export function ofText(read: (text: string, flags: SourceFlags) => Entry[]): Read {
  return async (ctx, file, flags) => {
    const text = await readInput(ctx, file)
    try {
      return read(text, flags)
    } catch (error) {
      throw error instanceof ImportRefusal ? new UsageError(`${file}: ${error.message}`) : error
    }
  }
}

/** Shows or creates the cron jobs of a source; calls `fail` when some are refused and `--skip-refused` is missing. */
export async function importEntries(ctx: Context, file: string, flags: Flags, read: Read, fail: () => void) {
  const entries = await read(ctx, file, flags)
  const source = { '-': 'standard input', '.': '.github/workflows', '': 'cron.job' }[file] ?? file
  const planned = nameSecrets(entries.flatMap(entry => ('job' in entry ? [entry] : [])))
  const refused = entries.flatMap(entry => ('refusal' in entry ? [entry] : []))
  for (const { place, refusal } of refused) ctx.stderr.write(`${source}, ${place}: ${refusal}\n`)
  if (refused.length > 0 && !flags.skipRefused) fail()
  if (refused.length > 0 && !flags.dryRun && !flags.skipRefused) {
    const others = planned.length === 0 ? '' : ` Fix them, or create the other ${planned.length} with --skip-refused.`
    ctx.stderr.write(`Nothing was created.${others}\n`)
    return
  }
  const wanted = planned.map(entry => ({ ...entry, isPaused: entry.isPaused || flags.paused === true }))
  if (flags.toFile) return writeFile(ctx, wanted)
  const secrets = secretsOf(wanted)
  // A dry run without a key names all of them.
  const stored = secrets.size > 0 && ctx.canSignIn ? await readNames(ctx.belfry(), 'secrets', ctx.signal) : []
  for (const [name, hosts] of secrets) {
    const bound = hosts.length > 0 ? ` --allowed-host ${hosts.join(' ')}` : ''
    const store = `Store the secret ${name}: belfry secrets put ${name}${bound} < its-value`
    const use = `Uses the secret ${name} as it is stored.`
    ctx.stderr.write(`${stored.includes(name) ? use : store}\n`)
  }
  if (!flags.dryRun && [...secrets.keys()].some(name => !stored.includes(name))) {
    ctx.stderr.write('Nothing was created.\n')
    return fail()
  }
  const existing = await findExisting(ctx)
  const counts = { created: 0, existing: 0, 'would be created': 0 }
  for (const entry of wanted) {
    const { outcome, id } = await carryOut(ctx, entry, existing, flags.dryRun ?? false)
    counts[outcome] += 1
    const { place, job, isPaused: paused, notes } = entry
    ctx.out.show({ place, outcome, id, job, paused, notes }, describe(ctx, entry, `${outcome}${id ? ` ${id}` : ''}`))
  }
  const summary = Object.entries(counts).flatMap(([outcome, count]) => (count > 0 ? [`${count} ${outcome}`] : []))
  if (refused.length > 0) summary.push(`${refused.length} refused`)
  ctx.out.say(summary.join(', ') || 'Nothing to import.')
}

function writeFile(ctx: Context, wanted: readonly Importable[]): void {
  const live = wanted.map(({ job, isPaused }, i) => {
    const id = String(i).padStart(6, '0') // keeps the order of the entries
    return { kind: 'cron_job' as const, id, key: null, fields: job, isPaused }
  })
  const secrets = [...secretsOf(wanted).keys()]
  ctx.stdout.write(writeConfiguration('main', live, { secrets, connections: [] }))
}

/** Returns the secrets that entries refer to, each with the hosts that receive it, except for hosts that are secret. */
function secretsOf(entries: readonly Importable[]): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const { job } of entries) {
    const host = hostOf(job.url)
    for (const name of secretNames(stringifyJson(job))) {
      const hosts = new Set([...(found.get(name) ?? []), host].filter(one => !one.includes('{{')))
      found.set(name, [...hosts])
    }
  }
  return found
}

/** The cron jobs of the workspace, by their fingerprints. */
type Existing = Map<string, Fields>

async function findExisting(ctx: Context): Promise<Existing> {
  const live = ctx.canSignIn ? await readLive(ctx.belfry(), ['cron_job'], ctx.signal) : []
  const running = live.filter(({ fields }) => fields.status !== 'ended')
  return new Map(running.map(({ fields }) => [fingerprintOf(fields), fields]))
}

function fingerprintOf({ name, url, method, cron, timezone, headers, payload }: Fields): string {
  return canonical([name, url, method, cron, timezone, headers, payload ?? null])
}

/** Creates a cron job, or finishes what an interrupted import has begun. It is idempotent. */
async function carryOut(ctx: Context, { place, body, isPaused }: Importable, existing: Existing, isDry: boolean) {
  const fingerprint = fingerprintOf(body)
  const present = existing.get(fingerprint)
  if (present && (isDry || !isUnfinished(present))) return { outcome: 'existing', id: present.id ?? null } as const
  if (isDry) {
    existing.set(fingerprint, {})
    return { outcome: 'would be created', id: null } as const
  }
  const belfry = ctx.belfry()
  const declared = { kind: 'cron_job', name: place, key: null, body, isPaused } as const
  if (present) await finish(belfry, declared, present, ctx.signal)
  const { id } = present ?? (await create(belfry, declared, ctx.signal))
  existing.set(fingerprint, { id })
  return { outcome: 'created', id } as const
}

function describe(ctx: Context, { place, job, isPaused, notes }: Importable, outcome: string): string {
  const parsed = parseCron(job.cron)
  const inWords = parsed.ok ? describeCron(parsed.cron) : ''
  const { headers, payload, timeout_ms: timeoutMs, retry, starts_at: startsAt, ends_at: endsAt } = job
  const lines = [
    `${place}: ${outcome}${isPaused ? ' (paused)' : ''}`,
    `  ${job.method} ${job.url}`,
    `  ${job.cron}  ${job.timezone}  ${inWords}`,
    ...(startsAt ? [`  from ${startsAt}`] : []),
    ...(endsAt ? [`  until ${endsAt}`] : []),
    ...Object.entries(headers ?? {}).map(([name, value]) => `  ${name}: ${value}`),
    ...(payload === undefined ? [] : [`  ${stringifyJson(payload)}`]),
    ...(timeoutMs === undefined ? [] : [`  at most ${timeoutMs} ms per attempt`]),
    ...(Object(retry).max_retries === undefined ? [] : [`  ${Object(retry).max_retries} retries`]),
    ...notes.map(note => ctx.out.paint(`  note: ${note}`, 'yellow')),
  ]
  return lines.join('\n')
}
