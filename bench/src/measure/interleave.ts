/**
 * Runs every side once a round, in turns, so that whatever else the machine does meets all of them; the order is
 * reversed every other round, so that none always comes first.
 */
export async function interleave<Side extends string, Sample>(
  sides: Record<Side, () => Promise<Sample>>,
  rounds: number,
): Promise<Record<Side, Sample[]>> {
  const names = Object.keys(sides) as Side[]
  const samples = Object.fromEntries(names.map(name => [name, []])) as unknown as Record<Side, Sample[]> // the same names
  for (let round = 0; round < rounds; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) samples[name].push(await sides[name]())
  }
  return samples
}
