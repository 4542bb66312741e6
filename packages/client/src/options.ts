/** How a `Belfry` client is made. */
export type BelfryOptions = {
  /** The API key of a workspace (`bf_...`). Everything but accounts needs no more than this. */
  apiKey?: string
  /** The session token of a signed-in user, for what an API key may not do, such as creating organizations. */
  sessionToken?: string
  /** With a session token: the workspace that tasks, cron jobs, events and runs are taken from. */
  workspaceId?: string
  /** Where Belfry answers. Default `http://localhost:3000`. */
  baseUrl?: string
  /** How long one attempt of a call may take, with the reading of its answer, in milliseconds; `Infinity` for any time. Default 30,000. */
  timeoutMs?: number
  /** How often a call is repeated when that is safe. Default 2; 0 means never. */
  maxRetries?: number
  /** Used in place of the global `fetch`. */
  fetch?: typeof globalThis.fetch
  /** Told of every call, for logs. Never given a key, a token or a body. */
  on?: {
    /** Before each attempt; `attempt` is 1 for the first. */
    request?: (event: { method: string; url: string; attempt: number }) => void
    /** After each answer. */
    response?: (event: { method: string; url: string; attempt: number; status: number; durationMs: number }) => void
    /** Before the wait for the next attempt. */
    retry?: (event: { method: string; url: string; attempt: number; delayMs: number; reason: string }) => void
  }
}

/** What can be said about a single call. */
export type RequestOptions = {
  /** Ends the call, and its retries, when it is aborted. */
  signal?: AbortSignal
  /** In place of the client's. */
  timeoutMs?: number
  /** In place of the client's. */
  maxRetries?: number
}

/** What can be said about a call that creates something. */
export type CreateOptions = RequestOptions & {
  /**
   * Calls with the same key create only once within 24 hours, and all get the first one's answer. Default: a random
   * one, which makes the retries of this call safe.
   */
  idempotencyKey?: string
}

/** What can be said about following new runs. `timeoutMs` is for each connecting, not for the tail. */
export type TailOptions = RequestOptions & {
  /** Begins with the runs after this one, if they are not too many. Default: with those from now on. */
  after?: string
  /** Called when runs are left out because there are more than 200 at a time, with how many at least. */
  onOmitted?: (count: number) => void
}
