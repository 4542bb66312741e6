// Longer names are not typing mistakes, and comparing them would take long.
const maxLength = 64

/** Returns the known name that is most likely meant, or null: `execute_at` for `executeAt` and `exceute_at`. */
export function nearestName(name: string, known: readonly string[]): string | null {
  if (name.length > maxLength) return null
  const wanted = toSnakeCase(name)
  const ranked = known
    .map(candidate => ({ candidate, rank: rankOf(wanted, candidate) }))
    .filter(({ rank }) => rank !== null)
    .sort((a, b) => Number(a.rank) - Number(b.rank))
  return ranked[0]?.candidate ?? null
}

function toSnakeCase(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[\s-]+/g, '_')
    .toLowerCase()
}

// Fewer edits rank first, then names that share a part with the known one, such as target_url for url.
function rankOf(wanted: string, candidate: string): number | null {
  const distance = editDistance(wanted, candidate)
  if (distance <= Math.max(1, Math.floor(candidate.length / 3))) return distance
  return sharesEnd(wanted, candidate) || sharesEnd(candidate, wanted) ? maxLength + distance : null
}

function sharesEnd(long: string, short: string): boolean {
  return long.startsWith(`${short}_`) || long.endsWith(`_${short}`)
}

// Counts insertions, deletions, replacements and swaps of neighbours (optimal string alignment).
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = at(last, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swapped = isSwap ? at(beforeLast, j - 2) + 1 : Number.POSITIVE_INFINITY
      row.push(Math.min(at(last, j) + 1, at(row, j - 1) + 1, replaced, swapped))
    }
    beforeLast = last
    last = row
  }
  return at(last, b.length)
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY
}
