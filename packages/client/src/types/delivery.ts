import type { Id, Timestamp } from './request.ts'

/** A host that the tasks of a workspace call. */
export type Host = {
  /** A host name or address, with its port. */
  host: string
  circuit: {
    state: 'closed' | 'open' | 'half_open'
    /** When the breaker opened. */
    since: Timestamp | null
    /** When Belfry may probe the host with one attempt. */
    nextProbeAt: Timestamp | null
    /** The dispatchers in which the breaker is not closed. */
    dispatchers: number
  }
  /** Tasks that are due and not started. */
  waiting: number
  inFlight: number
  attempts: number
  failed: number
  attemptsPerMinute: number
  durationP50Ms: number | null
  lastFailure: { runId: Id; at: Timestamp; responseStatus: number | null; errorCode: string | null } | null
}

/** The hosts of a workspace: those with an open circuit breaker first, then those with the most waiting tasks. */
export type Hosts = {
  data: Host[]
  /** Attempts are counted from this time on: the last hour, or the latest 5,000 attempts. */
  from: Timestamp
  /** Hosts beyond the first 200. */
  omitted: number
  /** Only the first 10,000 waiting tasks were counted. */
  waitingIsCapped: boolean
  /** How many calls to one host may be in flight at once. */
  maxInFlightPerHost: number
}

/** The processes that deliver tasks. `live`: those with a heartbeat in the last five seconds. */
export type Status = {
  dispatchers: { live: number; lastSeenAt: Timestamp | null }
  schedulers: { live: number; lastSeenAt: Timestamp | null }
  /** `down`: Redis does not answer, and dispatchers read due tasks from PostgreSQL. `none`: no Redis is used. */
  queue: 'up' | 'down' | 'none'
}
