import { encodeCursor, type Page } from '@belfry/contract'
import type { Context } from '../context.ts'
import { type PageQuery, readCursor } from './page.ts'
import type { Where } from './where.ts'

const defaultLookAt = 4_000
// In each stream, so that a list of many workspaces gets on too.
const leastLookAt = 40
const largestId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/**
 * The condition that a column has one value, for the leading columns of the index that a list is read along, which are
 * then named in its order. An equality would let the planner take any other index that yields the order of the ids, and
 * pass over a million rows with other values.
 */
export function isExactly(column: string, value: string): string {
  return `${column} BETWEEN ${value} AND ${value}`
}

/** A list that is read along an index, newest first: one stream of rows for each workspace or key. */
export type Scan = {
  /** What there is a stream for, as items of a FROM clause, and how many that is. */
  streams: string
  streamCount: number
  table: string
  alias: string
  /** The order of a stream: that of its index, which must be that of the ids where the rest of it is the same. */
  order: string
  /** Conditions that the index answers; they may name the streams. */
  along: Where
  /** Tables that only the rest of the conditions needs. */
  joined?: string
  /** Conditions that each row has to be looked at for. Begins with the values of `along`. */
  rest: Where
  /** How many rows one request looks at, at most. Default: 4,000. */
  lookAt?: number
  /** Reads the rows whose ids are in `page (id)`, and those only; without an order. */
  read: string
}

/**
 * The condition that a row stands on the page. As a join, the planner might read the table for it and not the page's rows.
 */
export function isOnPage(column: string): string {
  return `${column} = ANY (ARRAY(SELECT id FROM page))`
}

/**
 * Reads a page of such a list. Where a filter finds little, the page ends after so many rows that were looked at: it may
 * be short or empty and still have a next one. That bounds what any filter costs.
 */
export async function readBoundedPage<Row extends { id: string }, Item>(
  ctx: Pick<Context, 'pool'>,
  query: PageQuery,
  scan: Scan,
  list: string,
  present: (row: Row) => Item,
): Promise<Page<Item>> {
  const { rows, next } = await readBounded<Row>(ctx, scan, readCursor(list, query), query.limit)
  return { data: rows.map(present), next_cursor: next === null ? null : encodeCursor(list, query, next) }
}

/** The same without its public form. `next` is the id to go on after; null at the end of the list. */
export async function readBounded<Row extends { id: string }>(
  ctx: Pick<Context, 'pool'>,
  scan: Scan,
  after: string | undefined,
  limit: number,
): Promise<{ rows: Row[]; next: string | null }> {
  const depth = depthOf(scan, limit)
  const values = [...scan.rest.values, after]
  const { rows } = await ctx.pool.query<Row>(pageText(scan, values, limit, depth), values)
  const end = await endOf(ctx, scan, after, depth, rows.length > limit)
  // Beyond where the first index was left, others may have been read further: the next page comes to those rows.
  const complete = end === null ? rows : rows.filter(({ id }) => id >= end)
  const shown = complete.slice(0, limit)
  return { rows: shown, next: complete.length > limit ? (shown.at(-1)?.id ?? null) : end }
}

function depthOf({ rest, streamCount, lookAt = defaultLookAt }: Scan, limit: number): number {
  if (rest.text === '') return limit + 1
  return Math.max(leastLookAt, Math.floor(lookAt / Math.max(1, streamCount)))
}

// The rows of one stream that come after the id which is the last of so many values.
function streamText({ table, alias, along, order }: Scan, values: readonly unknown[]): string {
  const conditions = `${along.text} AND ${alias}.id < coalesce($${values.length}::uuid, '${largestId}')`
  return `SELECT ${alias}.* FROM ${table} ${alias} WHERE ${conditions} ORDER BY ${order}`
}

function pageText(scan: Scan, values: readonly unknown[], limit: number, depth: number): string {
  const { streams, alias, joined = '', rest, read, order } = scan
  const looked = `(${streamText(scan, values)} LIMIT ${depth}) ${alias}`
  const kept = rest.text === '' ? '' : `${joined} WHERE ${rest.text}`
  return `
    WITH page AS MATERIALIZED (
      SELECT found.id FROM ${streams} CROSS JOIN LATERAL (
        SELECT ${alias}.id FROM ${looked} ${kept} ORDER BY ${order} LIMIT ${limit + 1}
      ) found ORDER BY found.id DESC LIMIT ${limit + 1}
    )
    ${read} ORDER BY ${alias}.id DESC`
}

// The newest place at which an index was left, when that may have kept rows from the page.
async function endOf(
  ctx: Pick<Context, 'pool'>,
  scan: Scan,
  after: string | undefined,
  depth: number,
  isFull: boolean,
): Promise<string | null> {
  if (scan.rest.text === '' || (isFull && scan.streamCount === 1)) return null
  const values = [...scan.along.values, after]
  const text = `
    SELECT reached.id FROM ${scan.streams}
    CROSS JOIN LATERAL (${streamText(scan, values)} OFFSET ${depth - 1} LIMIT 1) reached
    ORDER BY reached.id DESC LIMIT 1`
  const { rows } = await ctx.pool.query<{ id: string }>(text, values)
  return rows[0]?.id ?? null
}
