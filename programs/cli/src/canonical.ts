import { stringifyJson } from '@belfry/client'

/** Returns a text that is the same for equal values: it does not depend on the order of their members. */
export function canonical(parts: readonly unknown[]): string {
  return stringifyJson(parts.map(sorted))
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null || value instanceof Date || value instanceof Number) return value
  const entries = Object.entries(value).map(([name, member]): [string, unknown] => [name, sorted(member)])
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}
