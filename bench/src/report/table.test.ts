import { expect, it } from 'vitest'
import type { Figure } from '../benchmark.ts'
import { meetsLimit, toTable } from './table.ts'

const figure = (key: string, value: number, limit?: Figure['limit']): Figure => {
  return { key, title: key, value, min: value, max: value, ...(limit ? { limit } : {}) }
}

it('meets a limit that it equals', () => {
  expect(meetsLimit(figure('a', 1, { atLeast: 1 }))).toBe(true)
  expect(meetsLimit(figure('a', 0.9, { atLeast: 1 }))).toBe(false)
  expect(meetsLimit(figure('a', 1, { atMost: 1 }))).toBe(true)
  expect(meetsLimit(figure('a', 1.1, { atMost: 1 }))).toBe(false)
  expect(meetsLimit(figure('a', 1))).toBe(null)
})

it('has a line for each figure and each note', () => {
  const figures = [figure('ratio', 1.2345, { atLeast: 1, aim: 2 }), figure('longer_key', 200)]
  expect(toTable({ title: 'Title', seconds: 1.6, figures, notes: ['A note.'] }).split('\n')).toEqual([
    'Title (2 s)',
    '  ratio       1.23  1.23 - 1.23  >= 1, aim 2  pass  ratio',
    '  longer_key  200   200 - 200                       longer_key',
    '  note: A note.',
  ])
})
