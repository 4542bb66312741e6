import type { Condition } from '@belfry/domain/payload-filter'

const lineForm = /^\s*(.+?)\s+(eq|ne|in|prefix|exists|gte?|lte?)\s+(.+)$/

/** Parses conditions, one per line: a path, an operator, and a value as JSON. The API checks the value. */
export function readFilterLines(text: string): { filter?: Condition[]; error?: string } {
  const filter: Condition[] = []
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    const [, path, op, value = ''] = lineForm.exec(line) ?? []
    if (path === undefined) return { error: `Line ${index + 1} is not a condition. Use “order.total gte 100”.` }
    try {
      filter.push({ path, op, value: JSON.parse(value) } as Condition)
    } catch {
      return { error: `Line ${index + 1}: write text in double quotes, and a list as ["a", "b"].` }
    }
  }
  return { filter }
}

export function writeFilterLines(filter: readonly Condition[]): string {
  return filter.map(({ path, op, value }) => `${path} ${op} ${JSON.stringify(value)}`).join('\n')
}
