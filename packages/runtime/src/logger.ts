import { writeSync } from 'node:fs'
import { hostname } from 'node:os'
import { type Logger, pino } from 'pino'

export type { Logger }

const { warn: warning = 40 } = pino.levels.values

/**
 * Makes the logger of a process with one role: see `openLog`.
 * @param descriptor - The file descriptor that receives the lines. Default: standard output.
 */
export function createLogger(service: string, level: string, descriptor = 1): Logger {
  return openLog(level, descriptor)(service)
}

/**
 * Opens the log of a process: one JSON line per event, with the name of the machine or container as `instance`, credentials removed. Buffered lines are written within 250 ms, with
 * the next warning or error, and before the process exits. A log that cannot be written does not end the process.
 * @returns A function that makes the logger of a role. The lines of all roles keep their order.
 */
export function openLog(level: string, descriptor = 1): (service: string) => Logger {
  const instance = hostname()
  if (level === 'silent') return service => pino({ level }).child({ service, instance })
  const output = openLogOutput(descriptor)
  const log = openPino(level, output)
  return service => {
    const ofRole = log.child({ service, instance })
    outputs.set(ofRole, output)
    return ofRole
  }
}

const outputs = new WeakMap<Logger, LogOutput>()

/**
 * Returns a function that writes a frequent line at level info, in a fifth of the time of `info`. Its members cannot hold a
 * credential: nothing looks for one.
 * @param log - The logger of a role.
 */
export function frequentLine(log: Logger, message: string): (members: object) => void {
  const output = outputs.get(log)
  if (!output) return members => log.info(members, message)
  const bindings = JSON.stringify(log.bindings()).slice(1, -1)
  const end = `,"msg":${JSON.stringify(message)}}\n`
  return members => {
    if (!log.isLevelEnabled('info')) return
    output.write(`{"level":30${timeMember()},${bindings},${JSON.stringify(members).slice(1, -1)}${end}`)
  }
}

function openPino(level: string, output: LogOutput): Logger {
  const options = {
    level,
    base: null,
    timestamp: timeMember,
    serializers: { err: pino.stdSerializers.err },
    redact: { paths: secretPaths, censor: '[redacted]' },
    hooks: {
      logMethod(this: Logger, args: Parameters<pino.LogFn>, write: pino.LogFn, level: number) {
        write.apply(this, args)
        if (level >= warning) output.flush()
      },
    },
  }
  return pino(options, output)
}

let second = { startsAt: 0, text: '' }

// Writing the time of each line from scratch would take longer than the rest of a frequent line.
function timeMember(): string {
  const now = Date.now()
  if (now < second.startsAt || now >= second.startsAt + 1_000) {
    const startsAt = now - (now % 1_000)
    second = { startsAt, text: new Date(startsAt).toISOString().slice(0, -4) }
  }
  return `,"time":"${second.text}${String(now - second.startsAt).padStart(3, '0')}Z"`
}

const secretPaths = [
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
]

// One write for dozens of lines. SIGKILL loses the lines that are still buffered.
const bufferBytes = 8_192
const flushMs = 250
const maxUnwrittenBytes = 1_048_576
// The reader of a pipe may be a little behind when the process exits.
const maxExitTries = 100
const exitPauseMs = 10

type LogOutput = ReturnType<typeof openLogOutput>

/**
 * Opens the output of a process's log lines. They are joined once for each write: within 250 ms, or when `flush` is called. Lines
 * that cannot be written, for example because the disk is full, are kept up to a megabyte, and written later.
 */
function openLogOutput(descriptor: number) {
  let lines: string[] = []
  let length = 0
  let unwritten: Buffer | null = null
  let timer: NodeJS.Timeout | undefined

  // Synchronous: exiting would lose an asynchronous write that is in flight.
  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    let rest = Buffer.from(lines.join(''))
    if (unwritten) rest = Buffer.concat([unwritten, rest])
    lines = []
    try {
      while (rest.length > 0) rest = rest.subarray(writeSync(descriptor, rest))
    } catch {}
    unwritten = rest.length > 0 ? rest : null
    length = rest.length
  }

  process.once('exit', () => {
    flush()
    const pause = new Int32Array(new SharedArrayBuffer(4))
    for (let tries = 0; unwritten && tries < maxExitTries; tries++) {
      Atomics.wait(pause, 0, 0, exitPauseMs)
      flush()
    }
  })

  return {
    write(line: string): void {
      if (length + line.length > maxUnwrittenBytes) return
      lines.push(line)
      length += line.length
      if (length >= bufferBytes && !unwritten) flush()
      else timer ??= setTimeout(flush, flushMs).unref()
    },
    flush,
    /** pino calls this after a fatal line. */
    flushSync: flush,
  }
}
