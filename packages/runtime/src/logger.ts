import { type Logger, pino } from 'pino'

export type { Logger }

// One write for a dozen lines or so. What is written last before a process is killed may be lost.
const chunkBytes = 4_096
const longestDelayMs = 50

/**
 * Makes a process's logger: one JSON line per event, credentials removed. Lines are written some at a time, within 50 ms,
 * and all of them before the process exits.
 * @param descriptor - Where they go. Default: standard output.
 */
export function createLogger(service: string, level: string, descriptor = 1): Logger {
  const options = {
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
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
  return level === 'silent' ? pino(options) : pino(options, bufferedOutput(descriptor))
}

/**
 * A logger for lines whose members are all known to be no credentials, which are most of the lines: nothing is looked for
 * in them.
 */
export function withoutRedaction(log: Logger): Logger {
  return log.child({}, { redact: [] })
}

function bufferedOutput(descriptor: number) {
  const output = pino.destination({
    dest: descriptor,
    sync: true,
    minLength: chunkBytes,
    periodicFlush: longestDelayMs,
  })
  process.once('exit', () => output.flushSync())
  return output
}
