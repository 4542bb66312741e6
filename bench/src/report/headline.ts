import type { Figure } from '../benchmarks/benchmark.ts'

/** The figures by key. Those that were taken at several concurrencies also stand under their common key, by the worst. */
export function headlines(figures: readonly Figure[]): Record<string, number> {
  const byKey: Record<string, number> = {}
  for (const { key, value, limit } of figures) {
    const common = key.replace(/_(50|200)$/, '')
    const known = byKey[common] ?? value
    byKey[common] = limit && 'atMost' in limit ? Math.max(known, value) : Math.min(known, value)
    byKey[key] = value
  }
  return byKey
}

/** Whether a figure is what it should be; null when nothing is demanded of it. */
export function isMet({ value, limit }: Figure): boolean | null {
  if (!limit) return null
  return 'atLeast' in limit ? value >= limit.atLeast : value <= limit.atMost
}
