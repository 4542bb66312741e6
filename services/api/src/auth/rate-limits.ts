/** What is left of an allowance after one request. */
export type Allowance = { allowed: boolean; left: number; fullInS: number }

export type RateLimits = {
  /** Takes one request out of an allowance of so many a second. */
  take(id: string, perSecond: number): Allowance
}

type Buckets = Map<string, { left: number; atMs: number }>

const secondMs = 1000

/**
 * Keeps an allowance for each id: a bucket that holds the requests of one second and fills up evenly. It belongs to this
 * process: callers that are served by several processes have as many allowances, in exchange for which no request waits
 * for another server.
 */
export function createRateLimits(now: () => number = () => performance.now()): RateLimits {
  // A bucket that has not been touched for a second is full, which is as good as not known.
  let recent: Buckets = new Map()
  let older: Buckets = new Map()
  let turnedAtMs = now()
  return {
    take(id, perSecond) {
      const atMs = now()
      if (atMs - turnedAtMs >= secondMs) {
        older = recent
        recent = new Map()
        turnedAtMs = atMs
      }
      const before = recent.get(id) ?? older.get(id)
      const filled = before ? before.left + ((atMs - before.atMs) / secondMs) * perSecond : perSecond
      const had = Math.min(perSecond, filled)
      const allowed = had >= 1
      const left = allowed ? had - 1 : had
      recent.set(id, { left, atMs })
      return { allowed, left: Math.floor(left), fullInS: Math.ceil((perSecond - left) / perSecond) }
    },
  }
}
