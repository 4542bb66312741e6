/** A figure of several rounds. */
export type Measured = { value: number; min: number; max: number }

/** Returns the median of the rounds, with the smallest and the largest. */
export function measured(rounds: readonly number[]): Measured {
  return { value: quantile(rounds, 0.5), min: Math.min(...rounds), max: Math.max(...rounds) }
}

/** Divides one side by the other, round by round: both sides of a round ran on the same machine at about the same time. */
export function ratioOf(ours: readonly number[], theirs: readonly number[]): Measured {
  return measured(ours.map((our, round) => our / (theirs[round] ?? Number.NaN)))
}

/** Returns the value below which a share of the values lies, interpolated between neighbours. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const place = (sorted.length - 1) * share
  const [below, above] = [sorted[Math.floor(place)] ?? Number.NaN, sorted[Math.ceil(place)] ?? Number.NaN]
  return below + (above - below) * (place - Math.floor(place))
}

/**
 * Runs every side once a round, one after another, so a disturbance of the machine affects all of them. Every other round
 * runs in reverse, so no side always comes first. Returns the samples of each side by round.
 */
export async function interleave<Side extends string, Sample>(
  sides: Record<Side, () => Promise<Sample>>,
  rounds: number,
): Promise<Record<Side, Sample[]>> {
  const names = Object.keys(sides) as Side[]
  const samples = Object.fromEntries(names.map(name => [name, [] as Sample[]])) as Record<Side, Sample[]>
  for (let round = 0; round < rounds; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) samples[name].push(await sides[name]())
  }
  return samples
}
