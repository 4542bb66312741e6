/** Random choices from a seed. */
export type Random = {
  /** Returns a number from 0 to less than 1. */
  next(): number
  below(limit: number): number
  chance(probability: number): boolean
  pick<T>(list: readonly T[]): T
}

/** Makes the random choices of one seed (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    next,
    below: limit => Math.floor(next() * limit),
    chance: probability => next() < probability,
    pick: list => list[Math.floor(next() * list.length)] as (typeof list)[number],
  }
}
