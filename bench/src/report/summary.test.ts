import { expect, it } from 'vitest'
import type { Figure } from '../benchmark.ts'
import type { StoredResult } from './results.ts'
import { toSummary } from './summary.ts'

const machine = { cpu: '', cores: 2, memoryGiB: 1, kernel: '', versions: {} }

function result(figures: Figure[]): StoredResult {
  return { name: 'x', title: '', measuredAt: '', seconds: 1, machine, rounds: [], figures }
}

function figure(key: string, value: number, limit?: Figure['limit']): Figure {
  return { key, title: '', value, min: 1, max: 3, ...(limit ? { limit } : {}) }
}

it('has every figure under its key, and the names of broken benchmarks', () => {
  const summary = toSummary([result([figure('lag_p99_1000_ms', 2)])], ['y'])
  expect(summary).toEqual({
    ...{ lag_p99_1000_ms: 2, spread: { lag_p99_1000_ms: [1, 3] }, notes: [], broken: ['y'], machine },
  })
})

it('has the worse of two concurrencies under their common key', () => {
  const [least, most] = [{ atLeast: 1 }, { atMost: 1 }]
  const figures = [
    ...[figure('a_50', 3, least), figure('a_200', 2, least), figure('b_50', 3, most), figure('b_200', 2, most)],
  ]
  expect(toSummary([result(figures)], [])).toMatchObject({ a: 2, a_50: 3, a_200: 2, b: 3, b_50: 3, b_200: 2 })
})
