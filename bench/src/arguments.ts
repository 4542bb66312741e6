import { parseArgs } from 'node:util'

export type Arguments = {
  /** Run the benchmarks whose names start with one of these; none means all. */
  names: string[]
  /** Print one JSON object as the last line. */
  json: boolean
  /** Update the tables of docs/benchmarks.md. */
  writeDocs: boolean
  /** Write CPU profiles of Belfry's processes. */
  profile: boolean
  /** Default 3. */
  rounds: number
  /** How long `memory` watches; null for a short look. */
  minutes: number | null
  /** How long `light-load` holds each rate. Default 30. */
  seconds: number
  /** How many waiting tasks and how many runs `large` stores. Default: 2 million. */
  tasks: number
}

/** Reads `[--json] [--write-docs] [--profile] [--rounds N] [--minutes N] [--seconds N] [--tasks N] [dispatch ...]`. */
export function readArguments(given: readonly string[]): Arguments {
  const [flag, text] = [{ type: 'boolean', default: false } as const, { type: 'string' } as const]
  const options = {
    json: flag,
    'write-docs': flag,
    profile: flag,
    rounds: text,
    minutes: text,
    seconds: text,
    tasks: text,
  }
  const { values, positionals } = parseArgs({ args: [...given], options, allowPositionals: true })
  return {
    names: positionals,
    json: values.json,
    writeDocs: values['write-docs'],
    profile: values.profile,
    rounds: positive('--rounds', values.rounds) ?? 3,
    minutes: positive('--minutes', values.minutes),
    seconds: positive('--seconds', values.seconds) ?? 30,
    tasks: positive('--tasks', values.tasks) ?? 2_000_000,
  }
}

function positive(name: string, text: string | undefined): number | null {
  if (text === undefined) return null
  const value = Number(text)
  if (!(value > 0)) throw new Error(`${name} needs a number greater than 0.`)
  return value
}

/** Returns the benchmarks that the names select. */
export function chooseByName<T extends { name: string }>(all: readonly T[], names: readonly string[]): T[] {
  const known = all.map(({ name }) => name).join(', ')
  for (const name of names) {
    if (!all.some(each => each.name.startsWith(name)))
      throw new Error(`There is no benchmark ${name}. There are: ${known}.`)
  }
  return all.filter(({ name }) => names.length === 0 || names.some(start => name.startsWith(start)))
}
