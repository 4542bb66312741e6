import { createHash } from 'node:crypto'
import { z } from 'zod'
import { textField } from './fields.ts'
import { textOrNull } from './response-fields.ts'
import { instant, wholeNumber } from './text-rules.ts'

const defaultLimit = 25
const maxLimit = 100

export type Page<T> = {
  data: T[]
  /** The `cursor` of the next page; null on the last page. */
  next_cursor: string | null
}

export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({
    data: z.array(item),
    next_cursor: textOrNull('The `cursor` of the next page; null on the last page.'),
  })
}

const limitRule = wholeNumber(1, maxLimit, { description: `Items per page. Default: ${defaultLimit}.` })

/** The query parameters of every list. */
export const pageFields = {
  limit: textField(limitRule).default(defaultLimit),
  cursor: z.string().meta({ minLength: 1, description: 'The `next_cursor` of the previous page.' }).optional(),
}

/** The bounds of a time in a query: `from` <= t < `to`. */
export const timeRange = { from: textField(instant).optional(), to: textField(instant).optional() }

/** The query of a list without filters. */
export const listQuery = z.strictObject(pageFields)

/**
 * Returns the cursor that continues a list after the row with this id. It is valid only for the same list and filters.
 * @param list - The list and its owner, such as `tasks:<workspace id>`.
 */
export function encodeCursor(list: string, query: Readonly<Record<string, unknown>>, uuid: string): string {
  return Buffer.from(JSON.stringify([bindingOf(list, query), uuid])).toString('base64url')
}

/**
 * Parses a cursor into the id it continues after; returns null when it is malformed or belongs to another list.
 * @param form - The form of the list's ids. Default: UUIDs.
 */
export function decodeCursor(
  list: string,
  query: Readonly<Record<string, unknown>>,
  cursor: string,
  form: RegExp = uuidForm,
): string | null {
  try {
    const [binding, id] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[]
    return binding === bindingOf(list, query) && typeof id === 'string' && form.test(id) ? id : null
  } catch {
    return null // not one of our cursors
  }
}

const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

// A few characters are enough, because this only detects mistakes. A cursor never grants access.
function bindingOf(list: string, query: Readonly<Record<string, unknown>>): string {
  const { limit: _limit, cursor: _cursor, ...filters } = query
  const given = Object.entries(filters).filter(([, value]) => value !== undefined)
  const text = JSON.stringify([list, given.sort(([a], [b]) => (a < b ? -1 : 1))])
  return createHash('sha256').update(text).digest('base64url').slice(0, 12)
}
