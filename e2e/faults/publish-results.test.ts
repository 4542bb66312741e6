import { expect, it } from 'vitest'
import { withResults } from './publish-results.ts'
import type { RowResult } from './row.ts'

const page = 'before\n<!-- results: written by npm run test:faults -->\n<!-- end of results -->\nafter'

function result(id: string, status: RowResult['status'], notes: string[] = []): RowResult {
  const counts = { tasks: 1, hits: 2, repeats: 1, latenessMs: 1_500, durationMs: 4_200 }
  return { row: { id, fault: 'a|b', moment: 'M1', expected: 'all' }, status, ...counts, notes, complaints: [] }
}

it('keeps the rows of earlier runs, replaces those of this run, and does not change the text around them', () => {
  const first = withResults(page, [result('F07', 'FAILED'), result('F03', 'passed')], true)
  const second = withResults(first, [result('F07', 'passed')], true)
  expect(second.split('\n').filter(line => line.startsWith('| F'))).toEqual([
    '| F03 | a\\|b | M1 | all | passed, 1 repeated, ≤ 1.5 s late |  |',
    '| F07 | a\\|b | M1 | all | passed, 1 repeated, ≤ 1.5 s late |  |',
  ])
  expect(second.startsWith('before\n')).toBe(true)
  expect(second.endsWith('\nafter')).toBe(true)
  expect(() => withResults('no place', [], true)).toThrow('no place')
})

it('keeps the results with Redis next to those without it', () => {
  const first = withResults(page, [result('F07', 'passed')], true)
  const second = withResults(first, [result('F07', 'passed'), result('F23', 'not run', ['about Redis'])], false)
  const third = withResults(second, [result('F07', 'FAILED')], true)
  expect(third.split('\n').filter(line => line.startsWith('| F'))).toEqual([
    '| F07 | a\\|b | M1 | all | FAILED, 1 repeated, ≤ 1.5 s late | passed, 1 repeated, ≤ 1.5 s late |',
    '| F23 | a\\|b | M1 | all |  | not run (about Redis) |',
  ])
})
