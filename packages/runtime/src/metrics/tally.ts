/** Counts of values by size, in plain numbers: counting one costs some nanoseconds, and nothing is allocated. */
export type Tally = {
  count(value: number): void
  /** How many values were at most each bound, and how many there were in all. */
  read(): { upTo: ReadonlyArray<readonly [bound: number, values: number]>; values: number; sum: number }
}

/** @param bounds - Ascending; each stands for the values up to itself. */
export function createTally(bounds: readonly number[]): Tally {
  const counts = new Float64Array(bounds.length + 1)
  let sum = 0
  return {
    count(value) {
      let i = 0
      while (i < bounds.length && value > (bounds[i] ?? 0)) i++
      counts[i] = (counts[i] ?? 0) + 1
      sum += value
    },
    read() {
      let values = 0
      const upTo = bounds.map((bound, i) => {
        values += counts[i] ?? 0
        return [bound, values] as const
      })
      return { upTo, values: values + (counts[bounds.length] ?? 0), sum }
    },
  }
}
