import type { Run } from '@belfry/contract/run'

/** A step of the call of a run. */
export type CallStep = {
  id: 'dns' | 'connect' | 'tls' | 'firstByte' | 'reading'
  ms: number
  /** Whether the call ended in this step. */
  isIncomplete: boolean
}

type Timings = NonNullable<Run['timings']>
type Measured = [id: CallStep['id'], ms: number | null]

/**
 * Returns the steps of a call in their order. Together they took its duration. The first step without a time is the one in which
 * the call ended. Null when nothing was measured.
 */
export function callSteps({ timings, duration_ms: duration, url }: Run): CallStep[] | null {
  if (timings === null) return null
  const opening = isReused(timings) ? [] : openingSteps(timings, url)
  const steps: CallStep[] = []
  let rest = duration
  for (const [id, ms] of [...opening, ['firstByte', timings.first_byte_ms] satisfies Measured]) {
    if (ms === null) return [...steps, { id, ms: rest, isIncomplete: true }]
    steps.push({ id, ms, isIncomplete: false })
    rest = Math.max(rest - ms, 0) // each time is rounded
  }
  return [...steps, { id: 'reading', ms: rest, isIncomplete: false }]
}

/** Returns whether a call used a kept-alive connection. */
export function isReused(timings: Timings): boolean {
  return timings.dns_ms === null
}

// The URL may be the value of a secret.
function openingSteps({ dns_ms, connect_ms, tls_ms }: Timings, url: string): Measured[] {
  const tls: Measured[] = tls_ms !== null || url.startsWith('https:') ? [['tls', tls_ms]] : []
  return [['dns', dns_ms], ['connect', connect_ms], ...tls]
}
