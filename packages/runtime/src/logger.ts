import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino'

export type { Logger }

// One write for dozens of lines. What is written last before a process is killed may be lost.
const chunkCharacters = 16_384
const longestDelayMs = 50
const { warn: warning = 40 } = pino.levels.values

/**
 * Makes a process's logger: one JSON line per event, credentials removed. Lines are written some at a time, within 50 ms;
 * warnings and errors with what stands before them at once, and all before the process exits.
 * @param descriptor - Where they go. Default: standard output.
 */
export function createLogger(service: string, level: string, descriptor = 1): Logger {
  const options = optionsOf(service, level)
  return level === 'silent' ? pino(options) : pino(options, bufferedOutput(descriptor))
}

/** Makes the logger of another role of the same process: the lines of both keep their order. */
export function loggerOfRole(log: Logger, role: string): Logger {
  return pino(optionsOf(role, log.level), streamOf(log))
}

/** What a plain line may say: nothing that could be a credential. */
export type PlainMembers = Readonly<Record<string, string | number | undefined>>

/**
 * Makes a writer of the lines that a process has most of, at the level of `info`. No credential is looked for in them, and
 * a line takes a third of the time.
 */
export function plainLines(log: Logger, message: string): (members: PlainMembers) => void {
  const { info } = pino.levels.values
  const stream = streamOf(log)
  const ofProcess = JSON.stringify(log.bindings()).slice(1, -1)
  return members => {
    if (!log.isLevelEnabled('info')) return
    const json = JSON.stringify(members)
    const own = json === '{}' ? '' : `,${json.slice(1, -1)}`
    stream.lastLevel = info ?? 0
    stream.write(`{"level":${info},"time":"${timeNow()}",${ofProcess}${own},"msg":"${message}"}\n`)
  }
}

function optionsOf(service: string, level: string): LoggerOptions {
  return {
    level,
    base: { service },
    timestamp: () => `,"time":"${timeNow()}"`,
    serializers: { err: pino.stdSerializers.err },
    redact: {
      paths: [
        'authorization',
        'cookie',
        'password',
        'token',
        'key',
        '*.authorization',
        '*.cookie',
        '*.password',
        '*.token',
        '*["x-api-key"]',
      ],
      censor: '[redacted]',
    },
  }
}

// Under load many lines share a millisecond, and writing it costs as much as the rest of a line.
function timeNow(): string {
  const ms = Date.now()
  if (ms !== latest.ms) latest = { ms, text: new Date(ms).toISOString() }
  return latest.text
}

let latest = { ms: 0, text: '' }

function streamOf(log: Logger): Output {
  return (log as unknown as Record<symbol, Output>)[pino.symbols.streamSym] as Output // every logger of pino has one
}

type Output = DestinationStream & { lastLevel: number; flushSync(): void }

// The stream below would join every line to those before it at once.
function bufferedOutput(descriptor: number): Output {
  const output = pino.destination({ dest: descriptor, sync: true })
  let lines: string[] = []
  let characters = 0
  let timer: NodeJS.Timeout | undefined

  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    const text = lines.join('')
    lines = []
    characters = 0
    if (text !== '') output.write(text)
  }

  process.once('exit', flush)
  return {
    [Symbol.for('pino.metadata')]: true, // pino says the level of each line, below
    lastLevel: 0,
    flushSync: flush,
    write(line) {
      lines.push(line)
      characters += line.length
      if (characters >= chunkCharacters || this.lastLevel >= warning) flush()
      else timer ??= setTimeout(flush, longestDelayMs).unref()
    },
  }
}
