import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { repositoryRoot } from '../repository-root.ts'
import type { RowResult } from './row.ts'

const begin = '<!-- results: written by npm run test:faults -->'
const end = '<!-- end of results -->'
const head = ['| Row | Fault | Moment | Expected | Seen | Result |', '| --- | --- | --- | --- | --- | --- |']

/** Writes results into the table of docs/reliability.md; the rows that were not run this time stay as they are. */
export function publishResults(results: readonly RowResult[]): void {
  const path = join(repositoryRoot(), 'docs/reliability.md')
  writeFileSync(path, withResults(readFileSync(path, 'utf8'), results))
}

/** Puts results into the table between the two markers of a text. */
export function withResults(text: string, results: readonly RowResult[]): string {
  const [before, table, after] = [
    text.indexOf(begin),
    text.slice(text.indexOf(begin), text.indexOf(end)),
    text.indexOf(end),
  ]
  if (before === -1 || after === -1) throw new Error('The page has no place for the results.')
  const lines = new Map(
    table.split('\n').flatMap(line => (/^\| [FS]\d\d /.test(line) ? [[line.slice(2, 5), line]] : [])),
  )
  for (const result of results) lines.set(result.row.id, toLine(result))
  const sorted = [...lines].sort(([a], [b]) => a.localeCompare(b)).map(([, line]) => line)
  return `${text.slice(0, before)}${[begin, '', ...head, ...sorted, '', ''].join('\n')}${text.slice(after)}`
}

function toLine({ row, status, notes, ...seen }: RowResult): string {
  const counts = `${seen.tasks} tasks, ${seen.hits} hits, ${seen.repeats} repeated, ≤ ${(seen.latenessMs / 1000).toFixed(1)} s late; ${Math.round(seen.durationMs / 1000)} s`
  const told = status === 'not run' ? notes.join('; ') : [counts, ...notes].join('; ')
  const cells = [row.id, row.fault, row.moment, row.expected, told, status]
  return `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`
}
