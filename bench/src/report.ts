import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { findInstalledPostgres } from '@belfry/test-support/servers'
import type { Figure, Limit, Result } from './benchmark.ts'
import { repositoryRoot } from './lab/child-process.ts'
import { connectTo, readValue } from './lab/database.ts'
import type { Lab } from './lab/lab.ts'

/** The machine that the figures were measured on. */
type Machine = { cpu: string; cores: number; memoryGiB: number; versions: Record<string, string> }

export type StoredResult = Result & {
  name: string
  title: string
  measuredAt: string
  seconds: number
  machine: Machine
}

export async function describeMachine({ postgres, redis }: Lab): Promise<Machine> {
  await using database = connectTo(postgres.url())
  const version = await readValue<string>(database, `SELECT split_part(version(), ' ', 2)`)
  const [cpu] = cpus()
  return {
    cpu: cpu?.model.trim() ?? '',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    versions: {
      node: process.versions.node,
      postgres: `${version}${findInstalledPostgres() ? '' : ' (embedded)'}`,
      redis: /redis_version:(\S+)/.exec(await redis.client.info('server'))?.[1] ?? '',
    },
  }
}

/** Stores a result as bench/results/<name>.json and replaces the previous one. */
export function storeResult(result: StoredResult): void {
  mkdirSync(join(repositoryRoot, 'bench/results'), { recursive: true })
  const path = join(repositoryRoot, 'bench/results', `${result.name}.json`)
  writeFileSync(path, `${JSON.stringify(result, null, 2)}\n`)
}

/** Writes results into the tables of docs/benchmarks.md. */
export function writeDocs(results: readonly StoredResult[]): void {
  const path = join(repositoryRoot, 'docs/benchmarks.md')
  writeFileSync(path, withResults(readFileSync(path, 'utf8'), results))
}

const end = '<!-- end of results -->'

/** Replaces the tables of results in a page, and adds those that it does not have. */
export function withResults(page: string, results: readonly StoredResult[]): string {
  if (!page.includes(end)) throw new Error('The page has no place for the results.')
  return results.reduce((text, result) => {
    const known = text.indexOf(`### ${result.title}\n`)
    const from = known === -1 ? text.indexOf(end) : known
    const next =
      known === -1 ? from : Math.min(...[text.indexOf('\n### ', from) + 1, text.indexOf(end)].filter(Boolean))
    return `${text.slice(0, from)}${toSection(result)}${text.slice(next)}`
  }, page)
}

/** Formats the figures of a benchmark as a section in Markdown. */
export function toSection({ title, measuredAt, machine, figures, notes = [] }: StoredResult): string {
  const { cpu, cores, memoryGiB, versions } = machine
  const software = Object.entries(versions).map(([name, version]) => `${name} ${version}`)
  return [
    ...[`### ${title}`, ''],
    ...[`${measuredAt.slice(0, 10)}, ${cores} x ${cpu}, ${memoryGiB} GiB, ${software.join(', ')}.`, ''],
    ...toTable(figures.filter(({ side }) => side === undefined)),
    ...toMatrix(figures.filter(({ side }) => side !== undefined)),
    ...notes.flatMap(note => [note, '']),
    '',
  ].join('\n')
}

function toTable(figures: readonly Figure[]): string[] {
  if (figures.length === 0) return []
  const head = ['| Key | Description | Median | Spread | Required | |', '| --- | --- | --- | --- | --- | --- |']
  return [...head, ...figures.map(toRow), '']
}

function toRow(figure: Figure): string {
  const { key, title, min, max, limit } = figure
  const row = `| \`${key}\` | ${title} | ${numberOf(figure)} | ${shortNumber(min)} - ${shortNumber(max)} |`
  if (!limit) return `${row}  |  |`
  return `${row} ${requiredOf(limit)} | ${meetsLimit(figure) ? 'pass' : 'FAIL'} |`
}

// A column for each side, a row for each title.
function toMatrix(figures: readonly Figure[]): string[] {
  if (figures.length === 0) return []
  const sides = [...new Set(figures.map(({ side }) => side))]
  const rows = [...new Set(figures.map(({ title }) => title))].map(title => {
    const cells = sides.map(side =>
      figures.filter(figure => figure.side === side && figure.title === title).map(toCell),
    )
    return `| ${[title, ...cells].join(' | ')} |`
  })
  return [`| | ${sides.join(' | ')} |`, `| --- |${' --- |'.repeat(sides.length)}`, ...rows, '']
}

function toCell(figure: Figure): string {
  const { min, max, limit } = figure
  const spread = min === max ? '' : ` (${shortNumber(min)} - ${shortNumber(max)})`
  const verdict = limit ? `, ${meetsLimit(figure) ? 'pass' : 'FAIL'}: ${requiredOf(limit)}` : ''
  return `${numberOf(figure)}${spread}${verdict}`
}

function numberOf({ value, unit }: Figure): string {
  return `${shortNumber(value)}${unit ? ` ${unit}` : ''}`
}

function requiredOf(limit: Limit): string {
  const required = 'atLeast' in limit ? `>= ${limit.atLeast}` : `<= ${limit.atMost}`
  return limit.aim === undefined ? required : `${required}, aim ${limit.aim}`
}

/** Returns whether a figure is within its limit, if it has one. */
export function meetsLimit({ value, limit }: Pick<Figure, 'value' | 'limit'>): boolean {
  if (!limit) return true
  return 'atLeast' in limit ? value >= limit.atLeast : value <= limit.atMost
}

// A benchmark is not exact to more than three digits.
function shortNumber(value: number): string {
  if (!Number.isFinite(value)) return '-'
  return Math.abs(value) >= 100 ? Math.round(value).toString() : Number(value.toPrecision(3)).toString()
}

/**
 * Returns all figures of a run in one object, each under its key, with their spread and the machine. Figures that were
 * measured at 50 and at 200 calls in parallel also appear under their common key, with the worse value.
 */
export function toSummary(results: readonly StoredResult[], broken: readonly string[]): Record<string, unknown> {
  const figures = results.flatMap(result => result.figures)
  const byKey: Record<string, number> = {}
  for (const { key, value, limit } of figures) {
    const common = key.replace(/_(50|200)$/, '')
    const known = byKey[common] ?? value
    byKey[common] = limit && 'atMost' in limit ? Math.max(known, value) : Math.min(known, value)
    byKey[key] = value
  }
  return {
    ...byKey,
    spread: Object.fromEntries(figures.map(({ key, min, max }) => [key, [min, max]])),
    notes: results.flatMap(result => result.notes ?? []),
    broken,
    machine: results[0]?.machine,
  }
}
