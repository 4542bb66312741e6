import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { repositoryRoot } from '../repository-root.ts'
import type { RowResult } from './row.ts'

const begin = '<!-- results: written by npm run test:faults -->'
const end = '<!-- end of results -->'
const head = ['| Row | Fault | Moment | Expected | Result | Without a Redis |', '| --- | --- | --- | --- | --- | --- |']

/** Writes results into the table of docs/fault-tests.md. Rows that did not run keep their results. */
export function publishResults(results: readonly RowResult[], { withRedis }: { withRedis: boolean }): void {
  const path = join(repositoryRoot(), 'docs/fault-tests.md')
  writeFileSync(path, withResults(readFileSync(path, 'utf8'), results, withRedis))
}

/** Puts results into the table between the two markers. Results without Redis go into the last column. */
export function withResults(text: string, results: readonly RowResult[], withRedis: boolean): string {
  const [before, table, after] = [
    text.indexOf(begin),
    text.slice(text.indexOf(begin), text.indexOf(end)),
    text.indexOf(end),
  ]
  if (before === -1 || after === -1) throw new Error('The page has no place for the results.')
  const lines = new Map(
    table.split('\n').flatMap(line => (/^\| [FS]\d\d /.test(line) ? [[line.slice(2, 5), cellsOf(line)]] : [])),
  )
  for (const result of results) lines.set(result.row.id, cellsWith(result, lines.get(result.row.id) ?? [], withRedis))
  const sorted = [...lines].sort(([a], [b]) => a.localeCompare(b)).map(([, cells]) => `| ${cells.join(' | ')} |`)
  return `${text.slice(0, before)}${[begin, '', ...head, ...sorted, '', ''].join('\n')}${text.slice(after)}`
}

function cellsWith(result: RowResult, before: string[], withRedis: boolean): string[] {
  const { row } = result
  const about = [row.id, row.fault, row.moment, row.expected].map(escapeBars)
  const cell = escapeBars(outcomeOf(result))
  return withRedis ? [...about, cell, before[5] ?? ''] : [...about, before[4] ?? '', cell]
}

function outcomeOf({ status, notes, repeats, latenessMs }: RowResult): string {
  if (status === 'not run') return `not run (${notes.join('; ')})`
  return `${status}, ${repeats} repeated, ≤ ${(latenessMs / 1000).toFixed(1)} s late`
}

function escapeBars(cell: string): string {
  return cell.replaceAll('|', '\\|')
}

function cellsOf(line: string): string[] {
  return line.slice(2, -2).split(/ \| /)
}
