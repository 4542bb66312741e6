import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Result } from '../benchmark.ts'
import { repositoryRoot } from '../lab/child-process.ts'
import type { Machine } from './machine.ts'
import { cellsOf } from './table.ts'

export type StoredResult = Result & {
  name: string
  title: string
  measuredAt: string
  seconds: number
  machine: Machine
}

const fileOf = (name: string) => join(repositoryRoot, 'bench/results', `${name}.json`)

/** Stores a result as bench/results/<name>.json and replaces the previous one. */
export function storeResult(result: StoredResult): void {
  mkdirSync(join(repositoryRoot, 'bench/results'), { recursive: true })
  writeFileSync(fileOf(result.name), `${JSON.stringify(result, null, 2)}\n`)
}

/** Writes the latest results of the named benchmarks into the tables of docs/benchmarks.md. */
export function writeDocs(names: readonly string[]): void {
  const path = join(repositoryRoot, 'docs/benchmarks.md')
  const results = names.map(fileOf).filter(existsSync)
  const read = (file: string) => JSON.parse(readFileSync(file, 'utf8')) as StoredResult // written by storeResult
  writeFileSync(path, withResults(readFileSync(path, 'utf8'), results.map(read)))
}

const begin = '<!-- results: written by npm run bench -- --write-docs -->'
const end = '<!-- end of results -->'

/** Puts results between the two markers of a page. */
export function withResults(page: string, results: readonly StoredResult[]): string {
  const [before, after] = [page.indexOf(begin), page.indexOf(end)]
  if (before === -1 || after === -1) throw new Error('The page has no place for the results.')
  return `${page.slice(0, before)}${[begin, '', ...results.map(toSection), ''].join('\n')}${page.slice(after)}`
}

function toSection({ title, measuredAt, machine, figures, notes = [] }: StoredResult): string {
  const { cpu, cores, memoryGiB, versions } = machine
  const software = Object.entries(versions).map(([name, version]) => `${name} ${version}`)
  const rows = figures.map(cellsOf).map(cells => {
    return `| ${[`\`${cells.key}\``, cells.title, cells.value, cells.spread, cells.required, cells.verdict].join(' | ')} |`
  })
  return [
    ...[`### ${title}`, ''],
    ...[`${measuredAt.slice(0, 10)}, ${cores} x ${cpu}, ${memoryGiB} GiB, ${software.join(', ')}.`, ''],
    ...['| Key | Description | Median | Spread | Required | |', '| --- | --- | --- | --- | --- | --- |', ...rows, ''],
    ...notes.flatMap(note => [note, '']),
  ].join('\n')
}
