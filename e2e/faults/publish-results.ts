import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { repositoryRoot } from '../repository-root.ts'
import type { RowResult } from './row.ts'

const begin = '<!-- results: written by npm run test:faults -->'
const end = '<!-- end of results -->'

/** Writes results into results.tsv and their sums into docs/fault-tests.md. Rows that did not run keep their results. */
export function publishResults(results: readonly RowResult[], { withRedis }: { withRedis: boolean }): void {
  const [table, page] = ['e2e/faults/results.tsv', 'docs/fault-tests.md'].map(path => join(repositoryRoot(), path))
  const stored = withResults(readFileSync(table as string, 'utf8'), results, withRedis)
  writeFileSync(table as string, stored)
  writeFileSync(page as string, withSums(readFileSync(page as string, 'utf8'), stored))
}

/** Replaces results in the text of results.tsv: a line for each row, with the results on both kinds of installation. */
export function withResults(text: string, results: readonly RowResult[], withRedis: boolean): string {
  const [head = '', ...lines] = text.replace(/\n$/, '').split('\n')
  const byId = new Map(lines.map(line => [line.slice(0, 3), line.split('\t')]))
  for (const result of results) {
    const { id } = result.row
    const [, ...before] = byId.get(id) ?? []
    const [own, other] = [fieldsOf(result), withRedis ? before.slice(3) : before.slice(0, 3)]
    const rest = other.length === 3 ? other : ['', '', '']
    byId.set(id, [id, ...(withRedis ? [...own, ...rest] : [...rest, ...own])])
  }
  const sorted = [...byId].sort(([a], [b]) => a.localeCompare(b)).map(([, fields]) => fields.join('\t'))
  return `${[head, ...sorted].join('\n')}\n`
}

function fieldsOf({ status, notes, repeats, latenessMs }: RowResult): string[] {
  return status === 'not run' ? [`not run (${notes.join('; ')})`, '', ''] : [status, `${repeats}`, seconds(latenessMs)]
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1)
}

/** Fills the last two columns of the table between the two markers: the worst results of the rows in its first column. */
export function withSums(page: string, stored: string): string {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  if (from === -1 || to === -1) throw new Error('The page has no place for the results.')
  const stats = new Map(stored.split('\n').map(line => [line.slice(0, 3), line.split('\t')]))
  const lines = page.slice(from, to).split('\n')
  const filled = lines.map(line => {
    if (!/^\| [FS]\d\d /.test(line)) return line
    const [ids = '', what = ''] = line.slice(2).split(' | ')
    const results = ids.split(' ').map(id => stats.get(id) ?? [id])
    return `| ${ids} | ${what} | ${worstOf(results, 1)} | ${worstOf(results, 4)} |`
  })
  return `${page.slice(0, from)}${filled.join('\n')}${page.slice(to)}`
}

/** Returns the worst of some lines of results.tsv, whose fields from `status` on are a status, repeated calls and seconds. */
function worstOf(results: string[][], status: number): string {
  const failed = results.filter(fields => fields[status] === 'FAILED').map(([id]) => id)
  const passed = results.filter(fields => fields[status] === 'passed')
  if (failed.length > 0) return `FAILED: ${failed.join(' ')}`
  if (passed.length === 0) return '–'
  const worst = (field: number) => Math.max(...passed.map(fields => Number(fields[field])))
  return `${worst(status + 1)}; ${worst(status + 2).toFixed(1)} s`
}

/** Returns the ids in the first column of the table between the two markers. */
export function rowsOf(page: string): string[] {
  const table = page.slice(page.indexOf(begin), page.indexOf(end))
  return [...table.matchAll(/^\| ((?:[FS]\d\d )+)\|/gm)].flatMap(([, ids = '']) => ids.trim().split(' '))
}
