import { decodeCursor, encodeCursor, type Page } from '@belfry/contract/page'
import { invalidField } from '@belfry/domain/app-error'

export type PageQuery = Readonly<Record<string, unknown>> & { limit: number; cursor?: string | undefined }

/**
 * Returns the id after which a page begins, if the caller sent a cursor. A cursor belongs to one list and its filters.
 * @param form - The form of the list's ids. Default: UUIDs.
 */
export function readCursor(list: string, query: PageQuery, form?: RegExp): string | undefined {
  if (query.cursor === undefined) return undefined
  const id = decodeCursor(list, query, query.cursor, form)
  if (id !== null) return id
  throw invalidField('cursor', 'invalid_cursor', 'cursor must be a next_cursor of the same list and filters.', 'query')
}

/** The rows of a page: those after an id, newest first. `before` is the same as a condition of `findMany`. */
export type PageRows = { after: string | undefined; before: { lt?: string }; take: number }

export async function readPage<Row extends { id: string }, Item>(
  list: string,
  query: PageQuery,
  find: (rows: PageRows) => Promise<Row[]>,
  present: (row: Row) => Item,
  form?: RegExp,
): Promise<Page<Item>> {
  const after = readCursor(list, query, form)
  const rows = await find({ after, before: after === undefined ? {} : { lt: after }, take: query.limit + 1 })
  return toPage(list, query, rows, present)
}

/** Makes a page of a list from up to one row more than the page has: the extra row shows that there is a next page. */
export function toPage<Row extends { id: string }, Item>(
  list: string,
  query: PageQuery,
  rows: Row[],
  present: (row: Row) => Item,
): Page<Item> {
  const shown = rows.slice(0, query.limit)
  const last = shown.at(-1)
  const hasMore = rows.length > query.limit && last !== undefined
  return { data: shown.map(present), next_cursor: hasMore ? encodeCursor(list, query, last.id) : null }
}
