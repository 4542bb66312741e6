import { once, setMaxListeners } from 'node:events'
import { type Host, type HostOptions, openHost } from './host.ts'
import type { Logger } from './logger.ts'
import { ConfigError } from './read-config.ts'
import { restoreFastStrings } from './restore-fast-strings.ts'
import { watchEventLoop } from './watch-event-loop.ts'

/** A running role, or all roles of a process. `drain` finishes the work in flight, then closes all connections. */
export type Service = { drain(): Promise<void> }

const drainDeadlineMs = 30_000
// A leftover handle, such as a connection that is being opened, does not keep a drained process alive.
const lingerMs = 500

/**
 * Runs a process from start to stop. SIGTERM, SIGINT and the loss of a parent with an IPC channel stop it: it takes no new
 * work, finishes the work in flight within 30 s, and exits 0. A second signal ends it at once. An uncaught error drains it
 * too, and it exits 1.
 * @param start - Starts the roles. `end` stops the process.
 */
export async function runService(
  log: Logger,
  options: HostOptions,
  start: (host: Host, end: () => void) => Promise<Service>,
): Promise<void> {
  const stop = new AbortController()
  setMaxListeners(0, stop.signal) // every chore of a service adds a listener
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (stop.signal.aborted) process.exit(1)
      log.info({ signal }, 'service.stopping')
      stop.abort()
    })
  }
  process.once('disconnect', () => stop.abort())
  for (const fault of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(fault, error => {
      log.fatal({ err: error }, 'service.fault')
      process.exitCode = 1
      stop.abort()
    })
  }
  const host = await openHost(log, stop.signal, options)
  const service = await start(host, () => stop.abort())
  restoreFastStrings()
  const unwatch = watchEventLoop(log)
  process.send?.('ready')
  log.info('service.ready')
  if (!stop.signal.aborted) await once(stop.signal, 'abort')
  setTimeout(() => process.exit(1), drainDeadlineMs).unref()
  await service.drain()
  await host.close()
  unwatch()
  log.info('service.stopped')
  if (process.connected) process.disconnect()
  setTimeout(() => process.exit(), lingerMs).unref()
}

/** Prints why a process could not start, and ends it. */
export function failToStart(error: unknown): void {
  process.stderr.write(`${error instanceof ConfigError || !(error instanceof Error) ? error : error.stack}\n`)
  process.exit(1)
}
