import type { MasterKeys } from '@belfry/vault'

/** Returns one line for each master key with its use, and whether only the current one is in use. */
export function describeKeys(
  { current, all }: MasterKeys,
  counts: ReadonlyMap<string, number>,
): { lines: string[]; isDone: boolean } {
  const older = [...all.keys()].filter(id => id !== current.id)
  const lines = [
    `${current.id} is the current key and wraps ${counts.get(current.id) ?? 0} data keys`,
    ...older.map(id => describeOlder(id, counts.get(id) ?? 0)),
  ]
  return { lines, isDone: !older.some(id => counts.has(id)) }
}

function describeOlder(id: string, count: number): string {
  return count === 0
    ? `${id} wraps nothing and may be removed`
    : `${id} still wraps ${count} data keys: run rewrap-keys`
}
