import { expect, it } from 'vitest'
import { rowsOf, withResults, withSums } from './publish-results.ts'
import type { RowResult } from './row.ts'

const head = 'row\twith Redis\trepeated\tseconds late\twithout Redis\trepeated\tseconds late\n'
const page = [
  'before',
  '<!-- results: written by npm run test:faults -->',
  '',
  '| Rows | Fault | Result | Without a Redis |',
  '| --- | --- | --- | --- |',
  '| F03 F07 | a process dies | | |',
  '| F23 | Redis is emptied | | |',
  '',
  '<!-- end of results -->',
  'after',
].join('\n')

function result(id: string, status: RowResult['status'], notes: string[] = []): RowResult {
  const counts = { tasks: 1, hits: 2, repeats: 1, latenessMs: 1_500, durationMs: 4_200 }
  return { row: { id, fault: 'a|b', moment: 'M1', expected: 'all' }, status, ...counts, notes, complaints: [] }
}

it('keeps the rows of earlier runs, and replaces those of this run', () => {
  const first = withResults(head, [result('F07', 'FAILED'), result('F03', 'passed')], true)
  const second = withResults(first, [result('F07', 'passed')], true)
  expect(second).toBe(`${head}F03\tpassed\t1\t1.5\t\t\t\nF07\tpassed\t1\t1.5\t\t\t\n`)
})

it('keeps the results with Redis next to those without it', () => {
  const first = withResults(head, [result('F07', 'passed')], true)
  const second = withResults(first, [result('F07', 'passed'), result('F23', 'not run', ['about Redis'])], false)
  const third = withResults(second, [result('F07', 'FAILED')], true)
  expect(third).toBe(`${head}F07\tFAILED\t1\t1.5\tpassed\t1\t1.5\nF23\t\t\t\tnot run (about Redis)\t\t\n`)
})

it('shows the worst result of the rows of a kind, and does not change the text around them', () => {
  const worse = { ...result('F03', 'passed'), repeats: 0, latenessMs: 20_000 }
  const stored = withResults(head, [result('F07', 'passed'), worse, result('F23', 'passed')], true)
  const both = withResults(stored, [result('F07', 'FAILED'), result('F23', 'not run', ['about Redis'])], false)
  const text = withSums(page, both)
  expect(text.split('\n').filter(line => line.startsWith('| F'))).toEqual([
    '| F03 F07 | a process dies | 1; 20.0 s | FAILED: F07 |',
    '| F23 | Redis is emptied | 1; 1.5 s | – |',
  ])
  expect(text.startsWith('before\n')).toBe(true)
  expect(text.endsWith('\nafter')).toBe(true)
  expect(withSums(text, both)).toBe(text)
  expect(rowsOf(text)).toEqual(['F03', 'F07', 'F23'])
  expect(() => withSums('no place', both)).toThrow('no place')
})
