import { headlines } from './headline.ts'
import type { StoredResult } from './results.ts'

/** All figures of a run in one object: each under its key, and beside them what they need to be understood. */
export function toSummary(results: readonly StoredResult[], broken: readonly string[]): Record<string, unknown> {
  const figures = results.flatMap(result => result.figures)
  return {
    ...headlines(figures),
    spread: Object.fromEntries(figures.map(({ key, min, max }) => [key, [min, max]])),
    notes: results.flatMap(result => result.notes ?? []),
    broken,
    machine: results[0]?.machine,
  }
}
