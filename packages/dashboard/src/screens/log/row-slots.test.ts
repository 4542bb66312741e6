import { expect, it } from 'vitest'
import { RowSlots } from './row-slots.ts'

it('keeps the slot of a row that stays, and passes those of rows that left to new ones', () => {
  const slots = new RowSlots()
  expect([...slots.assign([0, 1, 2])]).toEqual([
    [0, 0],
    [1, 1],
    [2, 2],
  ])
  expect([...slots.assign([0, 2, 3, 4])]).toEqual([
    [0, 0],
    [2, 2],
    [3, 1],
    [4, 3],
  ])
  expect([...slots.assign([90, 91]).values()]).toEqual([0, 1])
})

it('uses as many slots as the most rows that were mounted, each for one row', () => {
  const slots = new RowSlots()
  for (const first of [0, 7, 45, 30, 500, 485, 3]) {
    const used = [...slots.assign(Array.from({ length: 30 }, (_, at) => first + at)).values()]
    expect(new Set(used).size).toBe(30)
    expect(Math.max(...used)).toBe(29)
  }
})
