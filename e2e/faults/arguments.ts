export type Arguments = {
  /** Rows to run; none means all. */
  ids: string[]
  seed: number
  /** Null runs rows instead of chaos. */
  chaosMinutes: number | null
  /** Whether the processes get a Redis. */
  withRedis: boolean
  /** Whether the results go into docs/reliability.md. */
  writesDocs: boolean
}

/** Reads `[--chaos] [--minutes N] [--seed N] [--without-redis] [--without-docs] [F07 ...]`. */
export function readArguments(given: readonly string[]): Arguments {
  const rest = [...given]
  const read: Arguments = { ids: [], seed: 1, chaosMinutes: null, withRedis: true, writesDocs: true }
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === '--chaos') read.chaosMinutes ??= 10
    else if (word === '--minutes') read.chaosMinutes = numberIn(word, rest.shift())
    else if (word === '--seed') read.seed = numberIn(word, rest.shift())
    else if (word === '--without-redis') read.withRedis = false
    else if (word === '--without-docs') read.writesDocs = false
    else if (/^[FS]\d\d$/.test(word)) read.ids.push(word)
    else throw new Error(`${word} is neither a row such as F07 nor --seed N nor --minutes N nor --without-redis.`)
  }
  return read
}

function numberIn(name: string, text: string | undefined): number {
  const value = Number(text)
  if (text === undefined || !Number.isFinite(value)) throw new Error(`${name} needs a number.`)
  return value
}
