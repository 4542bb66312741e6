/** Returns numbers in [0, 1). */
export type Random = () => number

/** Returns a random element. */
export function pick<T>(random: Random, things: readonly [T, ...T[]]): T {
  return things[Math.floor(random() * things.length)] ?? things[0]
}

/** Returns a random whole number between two others. */
export function between(random: Random, from: number, to: number): number {
  return Math.round(from + random() * (to - from))
}

/** Returns true with a probability. */
export function chance(random: Random, probability: number): boolean {
  return random() < probability
}
