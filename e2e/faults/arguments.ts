export type Arguments = {
  /** Rows to run; none means all. */
  ids: string[]
  seed: number
  /** Null: rows, no chaos. */
  chaosMinutes: number | null
}

/** Reads `[--chaos] [--minutes N] [--seed N] [F07 ...]`. */
export function readArguments(given: readonly string[]): Arguments {
  const rest = [...given]
  const read: Arguments = { ids: [], seed: 1, chaosMinutes: null }
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === '--chaos') read.chaosMinutes ??= 10
    else if (word === '--minutes') read.chaosMinutes = numberIn(word, rest.shift())
    else if (word === '--seed') read.seed = numberIn(word, rest.shift())
    else if (/^[FS]\d\d$/.test(word)) read.ids.push(word)
    else throw new Error(`${word} is neither a row such as F07 nor --seed N nor --minutes N.`)
  }
  return read
}

function numberIn(name: string, text: string | undefined): number {
  const value = Number(text)
  if (text === undefined || !Number.isFinite(value)) throw new Error(`${name} needs a number.`)
  return value
}
