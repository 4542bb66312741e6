const windowMs = 60_000
const bucketMs = 5_000
const fewestAttempts = 20
const restMs = 30_000
const mostProbes = 3

/** What an attempt says about its host; null when it says nothing. */
export type Verdict = 'well' | 'failing' | null

/** The health of a host as far as one workspace sees it. All instants are milliseconds of one clock. */
export type HostHealth = {
  mayStart(now: number): boolean
  /** Notes that an attempt starts; what it returns belongs to its `end`. */
  begin(): number
  /** Notes how an attempt ended, and tells when this makes the host rest, or ends its rest. */
  end(generation: number, verdict: Verdict, now: number): 'resting' | 'rested' | null
  /** Ends a rest, and forgets what led to it. */
  reset(): void
  /** Until when the host rests; null when it does not. After that, one attempt at a time probes it. */
  readonly restsUntil: number | null
  /** Nothing of the last minute is known. */
  isForgettable(now: number): boolean
}

type Bucket = { startsAt: number; attempts: number; failures: number }

/**
 * Makes a host rest for 30 seconds when half of at least 20 attempts within a minute fail. Then one
 * attempt at a time probes it: one that does well ends the rest, three that fail begin another, so that a single task
 * which always fails does not decide. What started before a rest says nothing any more.
 */
export function createHostHealth(): HostHealth {
  let buckets: Bucket[] = []
  let restsUntil: number | null = null
  let isProbing = false
  let failedProbes = 0
  let generation = 0

  function note(isFailure: boolean, now: number): void {
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
    return attempts >= fewestAttempts && failures * 2 >= attempts
  }

  function rest(now: number): 'resting' {
    restsUntil = now + restMs
    isProbing = false
    failedProbes = 0
    generation++
    buckets = []
    return 'resting'
  }

  return {
    get restsUntil() {
      return restsUntil
    },
    mayStart: now => restsUntil === null || (now >= restsUntil && !isProbing),
    begin() {
      if (restsUntil !== null) isProbing = true
      return generation
    },
    end(ofGeneration, verdict, now) {
      if (ofGeneration !== generation) return null
      if (restsUntil !== null) {
        isProbing = false
        if (verdict === 'failing') return ++failedProbes < mostProbes ? null : rest(now)
        if (verdict === null) return null
        restsUntil = null
        return 'rested'
      }
      if (verdict === null) return null
      note(verdict === 'failing', now)
      return verdict === 'failing' && isFailing() ? rest(now) : null
    },
    reset() {
      restsUntil = null
      isProbing = false
      failedProbes = 0
      generation++
      buckets = []
    },
    isForgettable: now => restsUntil === null && (buckets.at(-1)?.startsAt ?? 0) <= now - windowMs - bucketMs,
  }
}
