import { describe, expect, it } from 'vitest'
import { createRounds, disturbanceNote } from './rounds.ts'

/** Rounds from which these shares are stolen, one after another. */
function stealing(count: number, shares: number[]) {
  const waiting = shares.values()
  return createRounds(count, () => () => waiting.next().value ?? 0)
}

const number = async (index: number) => index

describe('rounds', () => {
  it('are as many as are asked for when nothing disturbs them', async () => {
    const rounds = stealing(3, [0, 0.005, 0])
    expect(await rounds.run(number)).toEqual([0, 1, 2])
    expect(rounds.setAside).toEqual([])
    expect(disturbanceNote(rounds)).toEqual([])
  })

  it('are repeated where time was stolen', async () => {
    const rounds = stealing(3, [0.2, 0, 0.03, 0, 0])
    expect(await rounds.run(number)).toEqual([1, 3, 4])
    expect(rounds.setAside).toEqual([0.2, 0.03])
    expect(disturbanceNote(rounds)).toEqual([
      'The hypervisor took up to 0.0 % of the machine from the 3 rounds, and up to 20.0 % from 2 more, which do not count.',
    ])
  })

  it('end when there are twice as many, and those count that were disturbed least', async () => {
    const rounds = stealing(2, [0.2, 0.1, 0.3, 0.05])
    expect(await rounds.run(number)).toEqual([1, 3])
    expect(rounds.kept).toEqual([0.1, 0.05])
    expect(disturbanceNote(rounds)[0]).toContain('up to 10.0 % of the machine from the 2 rounds')
  })
})
