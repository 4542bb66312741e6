import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { allBenchmarks } from '../benchmarks/all-benchmarks.ts'
import { repositoryRoot } from '../lab/places.ts'
import { readResults } from './results.ts'
import { withResults } from './results-page.ts'

/** Writes the latest results into the tables of docs/benchmarks.md. */
export function writeDocs(): void {
  const path = join(repositoryRoot, 'docs/benchmarks.md')
  const stored = new Map(readResults().map(result => [result.name, result]))
  const results = allBenchmarks.flatMap(({ name }) => stored.get(name) ?? [])
  writeFileSync(path, withResults(readFileSync(path, 'utf8'), results))
}
