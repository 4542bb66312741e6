import { type Logger, pino } from 'pino'

export type { Logger }

/** Makes a process's logger: one JSON line per event on standard output, credentials removed. */
export function createLogger(service: string, level: string): Logger {
  return pino({
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
  })
}
