import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Result } from '../benchmarks/benchmark.ts'
import { repositoryRoot } from '../lab/places.ts'
import type { Machine } from './machine.ts'

/** What is kept of a benchmark that was run. */
export type StoredResult = Result & {
  name: string
  title: string
  measuredAt: string
  seconds: number
  machine: Machine
  /** The shares of the machine that its hypervisor took from the rounds that count, and from those that do not. */
  stolen: { kept: number[]; setAside: number[] }
}

const folder = join(repositoryRoot, 'bench/results')

/** Keeps a result as bench/results/<name>.json, in place of the one before. */
export function storeResult(result: StoredResult): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${result.name}.json`), `${JSON.stringify(result, null, 2)}\n`)
}

/** Reads the latest result of every benchmark that has one. */
export function readResults(): StoredResult[] {
  if (!existsSync(folder)) return []
  const files = readdirSync(folder).filter(file => file.endsWith('.json'))
  return files.map(file => JSON.parse(readFileSync(join(folder, file), 'utf8')) as StoredResult) // written above
}
