import { hostname } from 'node:os'
import { type Logger, pino } from 'pino'

export type { Logger }

// One write for dozens of lines. SIGKILL loses the lines that are still buffered.
const bufferBytes = 8_192
const flushMs = 250
const maxUnwrittenBytes = 1_048_576
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
  const log = level === 'silent' ? pino({ level }) : openPino(level, descriptor)
  const instance = hostname()
  return service => log.child({ service, instance })
}

/**
 * Makes a logger for frequent lines whose members cannot hold a credential. Looking for one takes more than half of the
 * time of a line.
 */
export function withoutRedaction(log: Logger): Logger {
  return log.child({}, { redact: [] })
}

function openPino(level: string, descriptor: number): Logger {
  const output = openOutput(descriptor)
  process.once('exit', () => output.flush())
  let timer: NodeJS.Timeout | undefined
  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    output.flush()
  }
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: pino.stdSerializers.err },
    redact: { paths: secretPaths, censor: '[redacted]' },
    hooks: {
      logMethod(this: Logger, args: Parameters<pino.LogFn>, write: pino.LogFn, level: number) {
        write.apply(this, args)
        if (level >= warning) flush()
        else timer ??= setTimeout(flush, flushMs).unref()
      },
    },
  }
  return pino(options, output)
}

// Keeps lines that cannot be written, for example because the disk is full, up to a limit, and writes them later.
function openOutput(descriptor: number) {
  // Synchronous: exiting would lose an asynchronous write that is in flight.
  const output = pino.destination({
    dest: descriptor,
    sync: true,
    minLength: bufferBytes,
    maxLength: maxUnwrittenBytes,
  })
  output.on('error', () => {})
  // Called by pino after a fatal line. The original repeats a write that fails, without an end.
  output.flushSync = output.flush
  return output
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
