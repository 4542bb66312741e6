import type { Rounds } from './rounds.ts'

/**
 * Runs every side once a round, in turns, so that whatever else the machine does meets all of them; the order is
 * reversed every other round, so that none always comes first.
 */
export async function interleave<Side extends string, Sample>(
  sides: Record<Side, () => Promise<Sample>>,
  rounds: Pick<Rounds, 'run'>,
): Promise<Record<Side, Sample[]>> {
  const names = Object.keys(sides) as Side[]
  const samples = await rounds.run(async index => {
    const ofRound = new Map<Side, Sample>()
    for (const name of index % 2 === 0 ? names : names.toReversed()) ofRound.set(name, await sides[name]())
    return ofRound
  })
  const of = (name: Side) => samples.map(ofRound => ofRound.get(name) as Sample) // each round has them all
  return Object.fromEntries(names.map(name => [name, of(name)])) as Record<Side, Sample[]> // the same names
}
