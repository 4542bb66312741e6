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
}

/** Reads `[--json] [--write-docs] [--profile] [--rounds N] [--minutes N] [--seconds N] [dispatch ...]`. */
export function readArguments(given: readonly string[]): Arguments {
  const words = given.values()
  const read: Arguments = {
    ...{ names: [], json: false, writeDocs: false, profile: false, rounds: 3, minutes: null, seconds: 30 },
  }
  for (const word of words) {
    if (word === '--json') read.json = true
    else if (word === '--write-docs') read.writeDocs = true
    else if (word === '--profile') read.profile = true
    else if (word === '--rounds') read.rounds = numberAfter(word, words.next().value)
    else if (word === '--minutes') read.minutes = numberAfter(word, words.next().value)
    else if (word === '--seconds') read.seconds = numberAfter(word, words.next().value)
    else if (word.startsWith('-')) throw new Error(`Unknown option ${word}. Options: ${usage}`)
    else read.names.push(word)
  }
  return read
}

const usage = '--json, --write-docs, --profile, --rounds N, --minutes N, --seconds N, and names of benchmarks'

function numberAfter(name: string, text: string | undefined): number {
  const value = Number(text)
  if (text === undefined || !(value > 0)) throw new Error(`${name} needs a number greater than 0.`)
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
