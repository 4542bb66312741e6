import { parseJson, stringifyJson } from '@belfry/client'
import { secretReference } from '@belfry/domain/secrets/secret-reference'
import { timeoutLimits } from '@belfry/domain/timeout'
import { z } from 'zod'
import type { Context } from '../context.ts'
import { parseAssignments } from '../parse-options.ts'
import { readInput } from '../read-input.ts'
import { UsageError } from '../usage-error.ts'
import {
  type Entry,
  expandMacro,
  type Found,
  ImportRefusal,
  type Request,
  requestFields,
  type SourceFlags,
} from './entry.ts'
import { jsonEntries } from './json-entries.ts'
import { keepDays } from './keep-days.ts'
import { secretName } from './name-secrets.ts'
import { readSqlCall, type SqlCall, type SqlValue } from './read-sql-call.ts'

const form = z.object({
  jobid: z.coerce.string(),
  schedule: z.string(),
  command: z.string(),
  jobname: z.string().nullish(),
  active: z.union([z.boolean(), z.string()]).default(true),
})
type Job = z.infer<typeof form>

/** Reads the table `cron.job` of pg_cron: from a database, or exported as CSV or JSON. */
export async function readPgCron(ctx: Context, file: string, flags: SourceFlags): Promise<Entry[]> {
  const { from } = flags
  if ((file === '') === (from === undefined)) throw new UsageError('Give either a file or --from.')
  const found = from === undefined ? await readFile(ctx, file) : await readDatabase(from)
  const settings = {
    timezone: flags.timezone ?? found.timezone,
    values: parseAssignments('--var', flags.var),
  }
  return jsonEntries(
    found.json,
    form,
    ({ jobname, jobid }) => jobname || `job ${jobid}`,
    job => readJob(job, settings),
  )
}

/** The rows as JSON, and the zone of their schedules. */
type Table = { json: string; timezone: string }

async function readFile(ctx: Context, file: string): Promise<Table> {
  const text = await readInput(ctx, file)
  const json = /^\s*[[{]/.test(text) ? text : JSON.stringify(readCsv(text))
  return { json, timezone: 'UTC' } // the default of pg_cron
}

async function readDatabase(connectionString: string): Promise<Table> {
  // Only this source needs the driver.
  const { default: pg } = await import('pg')
  const client = new pg.Client({ connectionString, application_name: 'belfry import' })
  try {
    await client.connect()
    const { rows } = await client.query<{ json: string; timezone: string }>(
      `SELECT coalesce(json_agg(job ORDER BY jobid), '[]')::text AS json,
         coalesce(current_setting('cron.timezone', true), 'GMT') AS timezone
       FROM cron.job`,
    )
    return rows[0] ?? { json: '[]', timezone: 'GMT' }
  } catch (error) {
    throw new UsageError(`cron.job cannot be read: ${error instanceof Error ? error.message : error}`)
  } finally {
    await client.end()
  }
}

/** Returns an object for each row of a CSV text with a heading. */
function readCsv(text: string): Array<Record<string, string>> {
  const rows: string[][] = [[]]
  for (const [, quoted, plain = '', end] of text.trim().matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g)) {
    rows.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain)
    if (end === '') break
    if (end !== ',') rows.push([])
  }
  const [heading = [], ...others] = rows
  return others.map(row => Object.fromEntries(heading.map((name, i) => [name, row[i] ?? ''])))
}

type Settings = { timezone: string; values: Record<string, string> }

function readJob({ jobid, jobname, schedule, command, active }: Job, { timezone, values }: Settings): Found {
  if (/seconds?$/.test(schedule))
    throw new ImportRefusal(`It runs every ${schedule}; a cron job runs at most once a minute.`)
  // In pg_cron $ is the last day of a month.
  const { cron, notes } = keepDays(expandMacro(schedule.trim().replace(/^(\S+\s+\S+\s+)\$/, '$1L')))
  const computed = new Set<string>()
  const call = readSqlCall(command, name => functions.has(shortName(name)), {
    lookUp: name => values[name] ?? secretReference(secretName(name)),
    onComputed: what => computed.add(what),
  })
  const { timeout_ms, ...request } = requestOf(call)
  return {
    job: {
      ...requestFields(request),
      ...{ name: jobname || `job ${jobid}`, cron, timezone, timeout_ms },
    },
    isPaused: active === false || active === 'f' || active === 'false',
    notes: [
      ...notes,
      ...[...computed].map(what => `${what} is left out: the header webhook-timestamp of each call has the time`),
    ],
  }
}

// The functions of pg_net and of the extension http, without their schemas, and the names of their arguments.
const functions: ReadonlyMap<string, readonly [method: string, ...names: string[]]> = new Map([
  ['net.http_post', ['POST', 'url', 'body', 'params', 'headers', 'timeout_milliseconds']],
  ['net.http_get', ['GET', 'url', 'params', 'headers', 'timeout_milliseconds']],
  ['net.http_delete', ['DELETE', 'url', 'params', 'headers', 'timeout_milliseconds', 'body']],
  ['http_get', ['GET', 'uri', 'data']],
  ['http_post', ['POST', 'uri', 'content', 'content_type']],
  ['http_put', ['PUT', 'uri', 'content', 'content_type']],
  ['http_patch', ['PATCH', 'uri', 'content', 'content_type']],
  ['http_delete', ['DELETE', 'uri', 'content', 'content_type']],
  ['http', ['', 'method', 'uri', 'headers', 'content_type', 'content']],
])

function shortName(name: string): string {
  const lower = name.toLowerCase()
  return lower.startsWith('net.') ? lower : lower.replace(/^.*\./, '')
}

function requestOf({ name, args }: SqlCall): Request & { timeout_ms?: number | undefined } {
  const [verb, ...names] = functions.get(shortName(name)) ?? []
  // The argument of http() is a row of the type http_request.
  const [row] = args.values()
  const values = Array.isArray(row) ? row.entries() : args
  const given = new Map(Array.from(values, ([key, value]) => [typeof key === 'number' ? names[key] : key, value]))
  const {
    url,
    uri = url,
    body,
    content = body,
    headers = null,
    content_type: type,
    timeout_milliseconds: timeoutMs,
  } = Object.fromEntries(given)
  if (typeof uri !== 'string') throw new ImportRefusal('It has no URL.')
  const isForm = given.has('content') && !type && content !== null
  const contentType = isForm ? 'application/x-www-form-urlencoded' : type
  const query = queryOf(given.get('params') ?? given.get('data') ?? null)
  const sent = isForm ? queryOf(content ?? null) : (content ?? (name === 'net.http_post' ? {} : null))
  return {
    url: query === '' ? uri : `${uri}${uri.includes('?') ? '&' : '?'}${query}`,
    method: String(given.get('method') ?? verb).toUpperCase(),
    headers: Object.assign({}, ...[headers].flat().map(objectOf), contentType && { 'Content-Type': contentType }),
    body: sent === null || typeof sent === 'string' ? sent : stringifyJson(sent),
    timeout_ms: timeoutMs ? Math.max(timeoutLimits.min, Number(timeoutMs)) : undefined,
  }
}

function queryOf(params: SqlValue): string {
  const query = new URLSearchParams(objectOf(params)).toString()
  // Belfry encodes the values of secrets.
  return query.replace(/%7B%7B\+secrets\.(\w+)\+%7D%7D/g, (_, name: string) => secretReference(name))
}

function objectOf(value: SqlValue): Record<string, string> {
  let parsed: unknown = value
  try {
    parsed = typeof value === 'string' ? parseJson(value) : value
  } catch {
    throw new ImportRefusal('Its headers or parameters are not JSON.')
  }
  return Object.fromEntries(Object.entries(Object(parsed)).map(([name, member]) => [name, String(member)]))
}
