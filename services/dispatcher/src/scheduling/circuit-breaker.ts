const windowMs = 60_000
const bucketMs = 5_000
const maxProbes = 3
// Longer than a probe takes. The breakers in PostgreSQL are kept for as long.
const forgetMs = 1_200_000

export type CircuitRules = {
  /** The part of the attempts that must fail, in percent; 0: it never opens. */
  failurePercent: number
  /** How many attempts a minute must have at least. */
  minAttempts: number
  openMs: number
}

export const defaultCircuitRules: CircuitRules = { failurePercent: 50, minAttempts: 20, openMs: 30_000 }

/** What the outcome of an attempt shows about its host, or null. */
export type HealthSignal = 'healthy' | 'failing' | null

/** How a breaker has changed; null when it has not. */
export type CircuitChange = { to: 'open'; until: number } | { to: 'closed' } | null

/** The circuit breaker of a host, for one workspace. All times are milliseconds of one clock. */
export type CircuitBreaker = ReturnType<typeof createCircuitBreaker>

type Bucket = { startsAt: number; attempts: number; failures: number }

/**
 * Creates a closed circuit breaker. By default it opens for 30 seconds when half of at least 20 attempts within a
 * minute fail. Then it is half-open and lets one attempt at a time probe the host. A healthy probe closes it; three
 * failing ones open it again, so a single task that always fails does not decide. Attempts from before it opened are
 * ignored.
 */
export function createCircuitBreaker({ failurePercent, minAttempts, openMs } = defaultCircuitRules) {
  let buckets: Bucket[] = []
  let openUntil: number | null = null
  let probesUntil = Number.NEGATIVE_INFINITY
  let isProbing = false
  let failedProbes = 0
  let generation = 0

  function record(isFailure: boolean, now: number): void {
    const startsAt = Math.floor(now / bucketMs) * bucketMs
    buckets = buckets.filter(bucket => bucket.startsAt > startsAt - windowMs)
    let last = buckets.at(-1)
    if (last?.startsAt !== startsAt) {
      last = { startsAt, attempts: 0, failures: 0 }
      buckets.push(last)
    }
    last.attempts++
    if (isFailure) last.failures++
  }

  function isFailing(): boolean {
    const attempts = buckets.reduce((sum, bucket) => sum + bucket.attempts, 0)
    const failures = buckets.reduce((sum, bucket) => sum + bucket.failures, 0)
    return failurePercent > 0 && attempts >= minAttempts && failures * 100 >= attempts * failurePercent
  }

  function restart(until: number | null): void {
    openUntil = until
    probesUntil = Number.NEGATIVE_INFINITY
    isProbing = false
    failedProbes = 0
    generation++
    buckets = []
  }

  function open(until: number): CircuitChange {
    restart(until)
    return { to: 'open', until }
  }

  return {
    /** When an open breaker becomes half-open; null while it is closed. */
    get openUntil(): number | null {
      return openUntil
    },
    /** Until when this process may probe the host. */
    get probesUntil(): number {
      return probesUntil
    },
    get isProbing(): boolean {
      return isProbing
    },
    /**
     * Whether an attempt may start: the breaker is closed, or it is half-open, this process may probe, and no probe is
     * in flight.
     */
    allows: (now: number): boolean => openUntil === null || (now >= openUntil && now < probesUntil && !isProbing),
    /** Records that an attempt starts. The attempt passes the returned generation to `end`. */
    begin(): number {
      if (openUntil !== null) isProbing = true
      return generation
    },
    /** Records how an attempt ended. Returns what that did to the breaker. */
    end(ofGeneration: number, signal: HealthSignal, now: number): CircuitChange {
      if (ofGeneration !== generation) return null
      if (openUntil !== null) {
        isProbing = false
        if (signal === 'failing') return ++failedProbes < maxProbes ? null : open(now + openMs)
        if (signal === null) return null
        openUntil = null
        return { to: 'closed' }
      }
      if (signal === null) return null
      record(signal === 'failing', now)
      return signal === 'failing' && isFailing() ? open(now + openMs) : null
    },
    /** Opens it until a time, unless it is open for as long already. */
    openUntilAtLeast: (until: number): CircuitChange => (openUntil !== null && until <= openUntil ? null : open(until)),
    /** Lets this process probe until a time: of all dispatchers, one at a time may. */
    allowProbes(until: number): void {
      probesUntil = until
    },
    /** Closes the breaker, and forgets what opened it. */
    reset: (): void => restart(null),
    /**
     * Whether it can be dropped: it is closed and the last minute had no attempt, or it is half-open for ten minutes.
     */
    isIdle: (now: number): boolean =>
      openUntil === null ? (buckets.at(-1)?.startsAt ?? 0) <= now - windowMs - bucketMs : openUntil <= now - forgetMs,
  }
}

// The codes without a valid response in time. The other codes are failures of Belfry itself, or blocked addresses.
const hostFailures = new Set(['timeout', 'connection_refused', 'connection_reset', 'dns', 'tls', 'invalid_response'])

type Outcome = { kind: 'response'; status: number } | { kind: 'failure'; code: string } | { kind: 'unsent' }

/**
 * Returns what the outcome of an attempt shows about its host. The host fails when a valid response does not arrive in
 * time, or when it reports an error (5xx) or asks for fewer calls (429). With any other response it is healthy.
 */
export function healthSignalOf(outcome: Outcome): HealthSignal {
  if (outcome.kind === 'unsent') return null
  if (outcome.kind === 'response') return outcome.status >= 500 || outcome.status === 429 ? 'failing' : 'healthy'
  return hostFailures.has(outcome.code) ? 'failing' : null
}
