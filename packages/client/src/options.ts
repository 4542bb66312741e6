/** The options of a `Belfry` client. */
export type BelfryOptions = {
  /**
   * The API key of a workspace (`bf_...`). It is enough for everything except organizations and members. Default: the
   * environment variable `BELFRY_API_KEY`. Browsers and workers have no environment.
   */
  apiKey?: string
  /** The session token of a signed-in user, for actions that API keys cannot do, such as creating organizations. */
  sessionToken?: string
  /** With a session token: the workspace of tasks, cron jobs, events and runs. */
  workspaceId?: string
  /** The URL of the Belfry server. Default: the environment variable `BELFRY_URL`, or `http://localhost:3000`. */
  baseUrl?: string
  /** The time limit of one attempt, including its response, in milliseconds. `Infinity` disables it. Default 30,000. */
  timeoutMs?: number
  /** The maximum number of retries. A request is retried only if that is safe. Default 2. */
  maxRetries?: number
  /** Replaces the global `fetch`. */
  fetch?: typeof globalThis.fetch
  /** Hooks for logs. They never receive a key, a token or a body. */
  on?: {
    /** Before each attempt; `attempt` is 1 for the first. */
    request?: (event: { method: string; url: string; attempt: number }) => void
    /** After each response. */
    response?: (event: { method: string; url: string; attempt: number; status: number; durationMs: number }) => void
    /** Before the wait for a retry. */
    retry?: (event: { method: string; url: string; attempt: number; delayMs: number; reason: string }) => void
  }
}

/** The options of a single request. */
export type RequestOptions = {
  /** Aborts the request and its retries. */
  signal?: AbortSignal
  /** Default: the option of the client. */
  timeoutMs?: number
  /** Default: the option of the client. */
  maxRetries?: number
}

/** The options of a request that creates an object. */
export type CreateOptions = RequestOptions & {
  /**
   * Requests with the same key create only once within 24 hours, and all return the first response. Default: a random key,
   * so retries of this request are safe.
   */
  idempotencyKey?: string
}

/** The options of an operation's progress. */
export type ProgressOptions = RequestOptions & {
  /** The time between two looks. Default 1,000 ms. */
  intervalMs?: number
}

/** The options of a tail. `timeoutMs` limits each connection attempt, not the tail. */
export type TailOptions = RequestOptions & {
  /** The id of a run: the tail starts with the runs after it, unless there are too many. Default: new runs only. */
  after?: string
  /** Called with the minimum number of omitted runs when there are more than 200 at a time. */
  onOmitted?: (count: number) => void
}
