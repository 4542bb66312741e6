import { expect, it } from 'vitest'
import { createSlowCallBudget } from './tenant-levels.ts'

const perMinute = () => 60_000

it('does not count the first second of a call', () => {
  const budget = createSlowCallBudget(perMinute)
  for (let i = 0; i < 1_000; i++) {
    budget.begin(i)
    budget.end(i, i + 1_000)
  }
  expect(budget.isSpent(2_000)).toBe(false)
})

it('counts calls in flight, and what ended calls have held until a minute has drained it', () => {
  const budget = createSlowCallBudget(perMinute)
  for (let i = 0; i < 10; i++) budget.begin(0)
  expect(budget.isSpent(7_000)).toBe(false)
  expect(budget.isSpent(7_001)).toBe(true)
  for (let i = 0; i < 10; i++) budget.end(0, 11_000) // 100 s in all
  expect(budget.isSpent(11_000)).toBe(true)
  expect(budget.isSpent(50_999)).toBe(true)
  expect(budget.isSpent(51_000)).toBe(false)
})

it('recovers within a minute, however long the calls were', () => {
  const budget = createSlowCallBudget(perMinute)
  for (let i = 0; i < 50; i++) budget.begin(0)
  for (let i = 0; i < 50; i++) budget.end(0, 300_000)
  expect(budget.isSpent(300_000)).toBe(true)
  expect(budget.isSpent(360_000)).toBe(false)
})
