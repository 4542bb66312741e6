import { expect, it } from 'vitest'
import { assignSlots } from './row-slots.ts'

it('keeps the slot of a row that stays, and passes those of rows that left to new ones', () => {
  const first = assignSlots([0, 1, 2], new Map())
  expect([...first]).toEqual([
    [0, 0],
    [1, 1],
    [2, 2],
  ])
  const next = assignSlots([0, 2, 3, 4], first)
  expect([...next]).toEqual([
    [0, 0],
    [2, 2],
    [3, 1],
    [4, 3],
  ])
  expect([...assignSlots([90, 91], next).values()]).toEqual([0, 1])
})

it('uses as many slots as the most rows that were mounted, each for one row', () => {
  let slots = assignSlots([], new Map())
  for (const first of [0, 7, 45, 30, 500, 485, 3]) {
    const rows = Array.from({ length: 30 }, (_, at) => first + at)
    slots = assignSlots(rows, slots)
    const used = [...slots.values()]
    expect(new Set(used).size).toBe(30)
    expect(Math.max(...used)).toBe(29)
  }
})
