import { once, setMaxListeners } from 'node:events'
import { type Host, type HostOptions, openHost } from './host.ts'
import { createLogger, type Logger } from './logger.ts'
import type { OperatorListen } from './operator-port.ts'
import { ConfigError } from './read-config.ts'
import { watchEventLoop } from './watch-event-loop.ts'

/** A running role, or all roles of a process. `drain` finishes the work in flight, then closes all connections. */
export type Service = { drain(): Promise<void> }

// After the calls in flight, their outcomes are recorded and the connections are closed.
const closeMs = 5_000
// A leftover handle, such as a connection that is being opened, does not keep a drained process alive.
const lingerMs = 500

/**
 * Runs a process from start to stop. SIGTERM, SIGINT and the loss of a parent with an IPC channel stop it: it stops taking
 * work, finishes the work in flight within `drainMs`, and exits 0 within another 5 s. A second signal ends it at once. An
 * uncaught error drains it too, and it exits 1.
 * @param start - Starts the roles. `end` stops the process.
 */
export async function runService(
  log: Logger,
  { drainMs, ...options }: HostOptions & { drainMs: number },
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
  setTimeout(() => process.exit(1), drainMs + closeMs).unref()
  await service.drain()
  await host.close()
  unwatch()
  log.info('service.stopped')
  if (process.connected) process.disconnect()
  setTimeout(() => process.exit(), lingerMs).unref()
}

/** Runs a process with one role: reads its configuration, and starts it. */
export async function runRole<
  Config extends { logLevel: string; drainMs: number; operatorListen: OperatorListen; traces?: boolean },
>(
  role: string,
  loadConfig: () => Config,
  start: (config: Config, log: Logger, host: Host) => Promise<Service>,
): Promise<void> {
  try {
    const config = loadConfig()
    const log = createLogger(role, config.logLevel)
    const { drainMs } = config
    const options = { drainMs, roles: [role], operatorListen: config.operatorListen, traces: config.traces ?? false }
    await runService(log, options, host => start(config, log, host))
  } catch (error) {
    failToStart(error)
  }
}

export function failToStart(error: unknown): void {
  process.stderr.write(`${error instanceof ConfigError || !(error instanceof Error) ? error : error.stack}\n`)
  process.exit(1)
}

/**
 * Makes the methods of strings as fast as they were when the process started; see decision 0013. Once a class is derived
 * from String, as in ioredis, V8 keeps `String.prototype` as a dictionary, and every method call on a string takes about
 * four times as long. Asking a String object for a method often enough, as this function does, makes V8 undo that.
 */
export function restoreFastStrings(): void {
  const text = Object('text') as string
  for (let i = 0; i < 1_000; i++) text.at(0)
}
