import { expect, it } from 'vitest'
import { planTorture, type TorturePlan } from './plan.ts'
import { shrink } from './shrink.ts'

const plan = planTorture(3, 1)
const [one, other] = [plan.faults[2], plan.faults.at(-1)]
const operation = plan.load[100]

it('keeps only the two faults and the operation that a failure needs', async () => {
  const smallest = await shrink(
    plan,
    async ({ faults, load }) => {
      return [one, other].every(fault => faults.some(each => each === fault)) && load.some(each => each === operation)
    },
    500,
  )
  expect(smallest).toEqual({ ...plan, faults: [one, other], load: [operation] })
})

it('returns a plan that fails, also when it runs out of tries', async () => {
  const fails = async ({ faults }: TorturePlan) => faults.some(each => each === other)
  for (const maxTries of [0, 1, 5]) {
    let asked = 0
    const smallest = await shrink(
      plan,
      smaller => {
        asked++
        return fails(smaller)
      },
      maxTries,
    )
    expect(asked).toBe(maxTries)
    expect(await fails(smallest)).toBe(true)
  }
})

it('keeps the whole plan when nothing smaller fails', async () => {
  expect(await shrink(plan, async () => false, 1_000)).toEqual(plan)
})
