import { describe, expect, it } from 'vitest'
import type { Figure } from './benchmark.ts'
import { type StoredResult, toSummary, withResults } from './report.ts'

const machine = { cpu: 'Some CPU', cores: 2, memoryGiB: 24, versions: { node: '20.19.0' } }

function figure(key: string, value: number, limit?: Figure['limit']): Figure {
  return { key, title: `title of ${key}`, value, min: 1, max: 20.01, ...(limit && { limit }) }
}

function result(title: string, figures: Figure[]): StoredResult {
  const measuredAt = '2026-11-21T10:00:00.000Z'
  return { name: 'x', title, measuredAt, seconds: 1.6, machine, rounds: [], notes: ['A note.'], figures }
}

describe('the page of results', () => {
  const page = 'before\n\n<!-- end of results -->\nafter\n'
  const one = result('One', [figure('a', 12.345, { atMost: 25, aim: 10 })])
  const two = result('Two', [figure('b', 200.4), figure('c', 2, { atMost: 1 })])

  it('shows a table for each benchmark', () => {
    const text = withResults(page, [one, two])
    expect(text).toContain('| `a` | title of a | 12.3 | 1 - 20 | <= 25, aim 10 | pass |')
    expect(text).toContain('| `b` | title of b | 200 | 1 - 20 |  |  |\n| `c` | title of c | 2 | 1 - 20 | <= 1 | FAIL |')
    expect(text).toContain('2026-11-21, 2 x Some CPU, 24 GiB, node 20.19.0.')
    expect(text.match(/A note\./g)).toHaveLength(2)
    expect(text.startsWith('before\n\n### One\n')).toBe(true)
    expect(text.endsWith('A note.\n\n<!-- end of results -->\nafter\n')).toBe(true)
  })

  it('shows figures of several sides in columns', () => {
    const sides = ['Belfry', 'other'].map(side => ({
      ...figure(`${side}_p99`, 18.3, { atMost: 8 }),
      title: 'p99',
      side,
    }))
    const once = { ...figure('Belfry_cpu', 5), title: 'CPU', side: 'Belfry', unit: 'us', min: 5, max: 5 }
    expect(withResults(page, [result('Sides', [...sides, once])])).toContain(
      [
        '| | Belfry | other |',
        '| --- | --- | --- |',
        '| p99 | 18.3 (1 - 20), FAIL: <= 8 | 18.3 (1 - 20), FAIL: <= 8 |',
        '| CPU | 5 us |  |',
      ].join('\n'),
    )
  })

  it('keeps the tables of other benchmarks', () => {
    const text = withResults(page, [one, two])
    expect(withResults(text, [two, one])).toBe(text)
    const newer = result('One', [figure('a', 7)])
    expect(withResults(text, [newer])).toBe(withResults(page, [newer, two]))
  })

  it('is rejected without its marker', () => {
    expect(() => withResults('nothing', [])).toThrow('no place for the results')
  })
})

it('summarizes the figures of a run under their keys, and the worse of two concurrencies under their common key', () => {
  const [least, most] = [{ atLeast: 1 }, { atMost: 1 }]
  const figures = [
    figure('a_50', 3, least),
    figure('a_200', 2, least),
    figure('b_50', 3, most),
    figure('b_200', 2, most),
  ]
  const summary = toSummary([result('One', figures)], ['y'])
  expect(summary).toMatchObject({ a: 2, a_50: 3, a_200: 2, b: 3, b_50: 3, b_200: 2, broken: ['y'], machine })
  expect(summary.spread).toMatchObject({ a_50: [1, 20.01] })
})
