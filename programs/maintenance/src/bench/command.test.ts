import { expect, it } from 'vitest'
import { toTable } from './command.ts'
import { quantile, rateOfCalls } from './load.ts'

it('prints the figures beside those of the floor, with their ratio', () => {
  const figures = [
    { key: 'creates_per_second', title: 'creates a second, 32 connections', value: 1_500.4, floor: 3_000 },
    { key: 'lateness_p99_ms', title: '  99 of 100', value: 12.04 },
  ]
  const machine = { belfry: '1.2.3', node: '24.1.0', postgres: '18.4 (included)', cpu: '2 x Some CPU' }
  expect(toTable(figures, machine)).toMatchInlineSnapshot(`
    "Belfry 1.2.3, Node 24.1.0, PostgreSQL 18.4 (included), 2 x Some CPU

                                                                Belfry     floor     ratio
    creates a second, 32 connections                              1500      3000      0.50
      99 of 100                                                12.0 ms

    The floor stores each create by one INSERT, and makes calls without storing anything.
    "
  `)
})

it('counts a rate between a fifth and nearly all calls, and takes quantiles of any number of values', () => {
  // One call a millisecond, after a late first one.
  const calls = Array.from({ length: 100 }, (_, i) => ({ path: '/', at: i === 0 ? -1_000 : i }))
  expect(rateOfCalls(calls)).toBeCloseTo(1_000)
  expect(quantile([3, 1, 2], 0.5)).toBe(2)
  expect(quantile([3, 1, 2], 0.99)).toBe(3)
  expect(quantile([], 0.5)).toBeNaN()
})
