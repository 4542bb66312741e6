import { encodeCursor, type Page } from '@belfry/contract/page'
import type { Context } from '../context.ts'
import { type PageQuery, readCursor } from './page.ts'

const defaultMaxScanned = 4_000
// The payloads of a page. One row may have up to 256 KiB more.
const maxPageBytes = 2_000_000
// For each stream, so a list of many workspaces advances too.
const minScannedPerStream = 40
/** Sorts after every other id. */
export const largestId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/**
 * Returns the condition that a column has one value, for the leading columns of the index that a list is read along. The
 * order of the list names these columns, too. With an equality the planner could take any other index that yields the
 * order of the ids, and skip a million rows with other values.
 */
export function isExactly(column: string, value: string): string {
  return `${column} BETWEEN ${value} AND ${value}`
}

/** A list that is read along an index, newest first: one stream of rows for each workspace or key. */
export type Scan = {
  /** The streams, as items of a FROM clause, and their number. */
  streams: string
  streamCount: number
  table: string
  alias: string
  /** The order of a stream. It must be the order of its index, and end with the id. */
  order: string
  /** Conditions that the index answers; they may name the streams. */
  along: Where
  /** Tables that only the rest of the conditions needs. */
  joined?: string
  /** Conditions that are checked for each row. Begins with the values of `along`. */
  rest: Where
  /** The maximum number of rows that one request scans. Default: 4,000. */
  maxScanned?: number
  /** Reads only the rows whose ids are in `page (id)`, in any order. */
  read: string
  /** The payload of the row with the id `candidate.id`, as `read` returns it in `payload`. Optional. */
  payload?: string
}

type PageRow = { id: string; payload?: string | null }

/** Returns the condition that a row is on the page. With a join the planner could read the whole table. */
export function isOnPage(column: string): string {
  return `${column} = ANY (ARRAY(SELECT id FROM page))`
}

/**
 * Reads a page of such a list. With a selective filter the page ends after a number of scanned rows, to bound the cost of
 * the filter, and it ends at 2 MB of payloads. Such a page may be short or empty although there is a next one.
 */
export async function readBoundedPage<Row extends PageRow, Item>(
  ctx: Pick<Context, 'pool'>,
  query: PageQuery,
  scan: Scan,
  list: string,
  present: (row: Row) => Item,
): Promise<Page<Item>> {
  const { rows, next } = await readBounded<Row>(ctx, scan, readCursor(list, query), query.limit)
  return { data: rows.map(present), next_cursor: next === null ? null : encodeCursor(list, query, next) }
}

/** Reads the rows of such a page. `next` is the id after which the next page begins; null at the end of the list. */
export async function readBounded<Row extends PageRow>(
  ctx: Pick<Context, 'pool'>,
  scan: Scan,
  after: string | undefined,
  limit: number,
): Promise<{ rows: Row[]; next: string | null }> {
  const values = [...scan.rest.values, after]
  const found = await ctx.pool.query<Row & { reached: string | null }>(pageText(scan, values, limit), values)
  const reached = found.rows[0]?.reached ?? null
  const rows: Row[] = found.rows.filter(({ id }) => id !== null) // an empty page is one row
  const bytes = rows.reduce((sum, { payload }) => sum + Buffer.byteLength(payload ?? ''), 0)
  // With so many bytes the statement has left out the rows after these, if there are any.
  const last = bytes >= maxPageBytes ? (rows.at(-1)?.id ?? null) : null
  const end = reached === null || (last !== null && last > reached) ? last : reached
  // The streams were scanned up to different ids. Rows beyond the newest of these belong to the next page.
  const complete = end === null ? rows : rows.filter(({ id }) => id >= end)
  const shown = complete.slice(0, limit)
  return { rows: shown, next: complete.length > limit ? (shown.at(-1)?.id ?? null) : end }
}

function depthOf({ rest, streamCount, maxScanned = defaultMaxScanned }: Scan, limit: number): number {
  if (rest.text === '') return limit + 1
  return Math.max(minScannedPerStream, Math.floor(maxScanned / Math.max(1, streamCount)))
}

function pageText(scan: Scan, values: readonly unknown[], limit: number): string {
  const { streams, table, alias, along, joined = '', rest, read, order, payload } = scan
  // The last of the values is the id after which the page begins.
  const conditions = `${along.text} AND ${alias}.id < coalesce($${values.length}::uuid, '${largestId}')`
  const stream = `SELECT ${alias}.* FROM ${table} ${alias} WHERE ${conditions} ORDER BY ${order}`
  const depth = depthOf(scan, limit)
  const kept = rest.text === '' ? '' : `${joined} WHERE ${rest.text}`
  return `
    WITH ${payload ? 'candidate' : 'page'} AS MATERIALIZED (
      SELECT found.id FROM ${streams} CROSS JOIN LATERAL (
        SELECT ${alias}.id FROM (${stream} LIMIT ${depth}) ${alias} ${kept} ORDER BY ${order} LIMIT ${limit + 1}
      ) found ORDER BY found.id DESC LIMIT ${limit + 1}
    )${payload ? `, page AS MATERIALIZED (${withinBytes(payload)})` : ''},
    listed AS MATERIALIZED (${read})
    SELECT ${rest.text === '' ? 'NULL' : reachedText(scan, stream, limit, depth)} AS reached, listed.*
    FROM (VALUES (1)) one LEFT JOIN listed ON true ORDER BY listed.id DESC`
}

// The newest id at which the scan of a stream ended, when rows may be missing from the page. It is of the snapshot of the page,
// because rows leave the index. A full page may lack rows of several streams only.
function reachedText({ streams, streamCount }: Scan, stream: string, limit: number, depth: number): string {
  return `
    CASE WHEN (SELECT count(*) FROM listed) <= ${streamCount === 1 ? limit : limit + 1} THEN (
      SELECT reached.id FROM ${streams} CROSS JOIN LATERAL (${stream} OFFSET ${depth - 1} LIMIT 1) reached
      ORDER BY reached.id DESC LIMIT 1
    ) END`
}

// Each row before which there are less bytes. `octet_length` does not read the text.
function withinBytes(payload: string): string {
  return `
    SELECT sized.id FROM (
      SELECT candidate.id, sum(octet_length(${payload})) OVER (
        ORDER BY candidate.id DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
      ) AS bytes_before FROM candidate
    ) sized WHERE coalesce(sized.bytes_before, 0) < ${maxPageBytes}`
}

/**
 * Collects the conditions of a list query and their parameters. Values never become part of the SQL text.
 * @param before - Earlier conditions of the same statement, whose values come first.
 */
export function where(before: { values: readonly unknown[] } = { values: [] }) {
  const values = [...before.values]
  const conditions: string[] = []
  return {
    values,
    /** Adds a condition in which each `?` stands for the next value. */
    and(condition: string, ...given: unknown[]): void {
      conditions.push(condition.replace(/\?/g, () => `$${values.push(given.shift())}`))
    },
    /** Adds a value alone, and returns its placeholder. */
    add: (value: unknown) => `$${values.push(value)}`,
    /** The conditions joined by AND, or an empty text. */
    get text() {
      return conditions.join(' AND ')
    },
  }
}

export type Where = ReturnType<typeof where>
