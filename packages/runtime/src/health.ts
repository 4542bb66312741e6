import { succeedsWithin } from './within-ms.ts'

/** The dependencies of a process, each with a function that rejects while the dependency is unavailable. */
export type HealthChecks = Record<string, () => Promise<unknown>>

export type Readiness = { ready: boolean; checks: Record<string, 'ok' | 'unavailable'> }

const checkTimeoutMs = 2000

/**
 * Runs all checks in parallel. A check that takes longer than 2 s counts as unavailable. Without its queue a process is ready:
 * PostgreSQL has all tasks.
 */
export async function readiness(checks: HealthChecks): Promise<Readiness> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => [name, await succeedsWithin(checkTimeoutMs, check)] as const),
  )
  return {
    ready: results.every(([name, ok]) => ok || name === 'queue'),
    checks: Object.fromEntries(results.map(([name, ok]) => [name, ok ? 'ok' : 'unavailable'])),
  }
}
