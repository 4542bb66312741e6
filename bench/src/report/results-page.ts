import { cellsOf } from './figure-cells.ts'
import type { StoredResult } from './results.ts'

const begin = '<!-- results: written by npm run bench -- --write-docs -->'
const end = '<!-- end of results -->'

/** Puts results between the two markers of a page. */
export function withResults(page: string, results: readonly StoredResult[]): string {
  const [before, after] = [page.indexOf(begin), page.indexOf(end)]
  if (before === -1 || after === -1) throw new Error('The page has no place for the results.')
  const sections = results.map(toSection)
  return `${page.slice(0, before)}${[begin, '', ...sections, ''].join('\n')}${page.slice(after)}`
}

function toSection({ title, measuredAt, machine, figures, notes = [] }: StoredResult): string {
  const { cpu, cores, memoryGiB, versions } = machine
  const software = Object.entries(versions).map(([name, version]) => `${name} ${version}`)
  const rows = figures.map(cellsOf).map(cells => {
    const { key, value, spread, demanded, verdict, title } = cells
    return `| ${[`\`${key}\``, title, value, spread, demanded, verdict].join(' | ')} |`
  })
  return [
    `### ${title}`,
    '',
    `${measuredAt.slice(0, 10)}, ${cores} x ${cpu}, ${memoryGiB} GiB, ${software.join(', ')}.`,
    '',
    '| Key | What it is | Median | Spread | Demanded | |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
    '',
    ...notes.flatMap(note => [note, '']),
  ].join('\n')
}
