/** An id such as `task_01jd…`: its kind, and 26 characters that sort by creation time. */
export type Id = string

/** A timestamp in UTC, such as `2026-11-21T02:20:00.000Z`. */
export type Timestamp = string

/** A time: a `Date`, or ISO 8601 text with `Z` or an offset. */
export type TimestampInput = Date | string

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** An HTTP method, in upper or lower case. */
export type MethodInput = Method | Lowercase<Method>

/** A JSON value. */
export type Json = string | number | boolean | null | Json[] | { [name: string]: Json }

/**
 * The request body. **Text must be JSON**; Belfry sends it byte for byte, so numbers beyond 2^53 and the order of keys
 * survive. Other values are converted to JSON. To send a JSON string, pass `JSON.stringify(text)`.
 */
export type PayloadInput = string | Exclude<Json, string> | object

export type PageOptions = {
  /** Items per page, 1 to 100. Default 25. */
  limit?: number
  /** The `nextCursor` of the previous page. */
  cursor?: string
}

export type Page<T> = {
  data: T[]
  /** Null on the last page. */
  nextCursor: string | null
}
