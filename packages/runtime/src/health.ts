import { succeedsWithin } from './within-ms.ts'

/** The dependencies of a process, each with a function that rejects while the dependency is unavailable. */
export type HealthChecks = Record<string, () => Promise<unknown>>

export type Readiness = { ready: boolean; checks: Record<string, 'ok' | 'unavailable'> }

const checkTimeoutMs = 2000

/**
 * Runs all checks in parallel. A check that takes longer than 2 s counts as unavailable.
 * @param optional - Checks that are reported but do not make the process unready. Optional.
 */
export async function readiness(checks: HealthChecks, optional: readonly string[] = []): Promise<Readiness> {
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => [name, await succeedsWithin(checkTimeoutMs, check)] as const),
  )
  return {
    ready: results.every(([name, ok]) => ok || optional.includes(name)),
    checks: Object.fromEntries(results.map(([name, ok]) => [name, ok ? 'ok' : 'unavailable'])),
  }
}
