import type { Figure } from '../benchmark.ts'
import type { StoredResult } from './results.ts'

/** Returns all figures of a run in one object, each under its key, with their spread and the machine. */
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

// Figures that were measured at 50 and at 200 calls in parallel also appear under their common key, with the worse value.
function headlines(figures: readonly Figure[]): Record<string, number> {
  const byKey: Record<string, number> = {}
  for (const { key, value, limit } of figures) {
    const common = key.replace(/_(50|200)$/, '')
    const known = byKey[common] ?? value
    byKey[common] = limit && 'atMost' in limit ? Math.max(known, value) : Math.min(known, value)
    byKey[key] = value
  }
  return byKey
}
