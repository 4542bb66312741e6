import type { ProofOptions } from './once/prove-once.ts'
import type { StoreName } from './once/stores.ts'

export type Arguments = {
  /** Rows to run; none means all. */
  ids: string[]
  seed: number
  /** Null runs rows instead. */
  torture: TortureArguments | null
  /** The defects to plant, one after another; none means all. Null plants none. */
  planted: { ids: string[]; isHealthy: boolean } | null
  /** Proves once() with each of these stores, instead of running rows. */
  proof: (Omit<ProofOptions, 'store' | 'seed'> & { stores: StoreName[] }) | null
  /** Whether the processes get a Redis. */
  withRedis: boolean
  /** Whether the results go into docs/fault-tests.md. */
  writesDocs: boolean
}

export type TortureArguments = {
  minutes: number
  /** A file with a plan, instead of the plan of the seed. */
  planFile: string | null
  /** Where the page about the run goes. Default: a file of the seed in e2e/dist/torture. */
  reportFile: string | null
  /** How many runs may be made to shrink a plan that fails. */
  shrinkTries: number
}

const defaultTries = 30

/**
 * Reads `[--seed N] [--without-redis] [--without-docs] [F07 ...]`, or
 * `--torture [--seed N] [--minutes M] [--plan FILE] [--report FILE] [--shrink] [--tries N]`, or
 * `--torture --planted [--healthy] [V05 ...]`, or
 * `--prove-once [--seed N] [--calls N] [--kills N] [--store pg|sqlite|mysql|redis|none ...]`.
 */
export function readArguments(given: readonly string[]): Arguments {
  const rest = [...given]
  const read: Arguments = {
    ids: [],
    seed: 1,
    torture: null,
    planted: null,
    proof: null,
    withRedis: true,
    writesDocs: true,
  }
  const torture: TortureArguments = { minutes: 3, planFile: null, reportFile: null, shrinkTries: 0 }
  const proof = { calls: 1_000, kills: 20, stores: [] as StoreName[] }
  const planted = { ids: [] as string[], isHealthy: false }
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === '--torture') read.torture = torture
    else if (word === '--planted') read.planted = planted
    else if (word === '--healthy') planted.isHealthy = true
    else if (/^[EV]\d\d$/.test(word)) planted.ids.push(word)
    else if (word === '--prove-once') read.proof = proof
    else if (word === '--calls') proof.calls = numberIn(word, rest.shift())
    else if (word === '--kills') proof.kills = numberIn(word, rest.shift())
    else if (word === '--store') proof.stores.push(storeIn(word, rest.shift()))
    else if (word === '--minutes') torture.minutes = numberIn(word, rest.shift())
    else if (word === '--plan') torture.planFile = textIn(word, rest.shift())
    else if (word === '--report') torture.reportFile = textIn(word, rest.shift())
    else if (word === '--shrink') torture.shrinkTries ||= defaultTries
    else if (word === '--tries') torture.shrinkTries = numberIn(word, rest.shift())
    else if (word === '--seed') read.seed = numberIn(word, rest.shift())
    else if (word === '--without-redis') read.withRedis = false
    else if (word === '--without-docs') read.writesDocs = false
    else if (/^[FS]\d\d$/.test(word)) read.ids.push(word)
    else throw new Error(`${word} is neither a row such as F07 nor an option such as --seed N.`)
  }
  if (proof.stores.length === 0) proof.stores.push('pg')
  return read
}

const storeNames: readonly string[] = ['pg', 'sqlite', 'mysql', 'redis', 'none'] satisfies StoreName[]

function storeIn(option: string, name: string | undefined): StoreName {
  if (!storeNames.includes(name ?? '')) throw new Error(`${option} is one of ${storeNames.join(', ')}.`)
  return name as StoreName
}

function textIn(name: string, text: string | undefined): string {
  if (text === undefined) throw new Error(`${name} needs a value.`)
  return text
}

function numberIn(name: string, text: string | undefined): number {
  const value = Number(text)
  if (text === undefined || !Number.isFinite(value)) throw new Error(`${name} needs a number.`)
  return value
}
