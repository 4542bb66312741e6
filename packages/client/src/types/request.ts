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

/** When failed attempts are repeated: after delays that grow, or after a list of delays. */
export type RetryPolicy = RetryBackoff | RetryDelays

export type RetryBackoff = {
  /** The maximum number of retries, 0 to 20. Default 5. */
  maxRetries: number
  /** The growth of the delay: `exponential` (base · 4^(n−1)), `linear` (base · n) or `fixed`. Default `exponential`. */
  backoff: 'exponential' | 'linear' | 'fixed'
  /** The delay before the first retry, 1,000 to 3,600,000 ms. Default 10,000. */
  baseDelayMs: number
  /** The maximum delay, at most 86,400,000 ms. Default 3,600,000. */
  maxDelayMs: number
}

/** A new policy, or the changes of one. `delaysMs` excludes the other fields. */
export type RetryInput = Partial<RetryBackoff & RetryDelays>

export type RetryDelays = {
  /** The exact delay before each retry, the first one first: 1 to 20 delays of 0 to 2,592,000,000 ms. */
  delaysMs: number[]
}

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
