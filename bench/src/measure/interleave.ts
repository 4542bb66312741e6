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
