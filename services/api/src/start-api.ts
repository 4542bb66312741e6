import { pingPool } from '@belfry/db'
import { isTimeZone } from '@belfry/domain'
import { every, type Logger, measureDependencies, type Service, serveHealth } from '@belfry/runtime'
import { createApp } from './app.ts'
import type { Config } from './config.ts'
import { openContext } from './context.ts'
import { createExpressServer } from './http/express-server.ts'
import { measureOpen } from './metrics.ts'

const clockRefreshMs = 10_000

/** Starts the HTTP interface. */
export async function startApi(config: Config, log: Logger, stop: AbortSignal): Promise<Service> {
  const ctx = await openContext(config, log, stop)
  isTimeZone('Europe/Berlin') // the first zone of a process takes some 30 ms, which no caller should wait for
  const checks = { database: () => pingPool(ctx.pool), queue: () => ctx.queue.ping() }
  const app = createApp(ctx, checks)
  measureOpen(ctx)
  measureDependencies(ctx.metrics.meter, checks)
  const health = await serveHealth(config.healthPort, checks, { metrics: ctx.metrics.meter, optional: ['queue'] })
  const limits = { maxHeaderSize: 16 * 1024, headersTimeout: 20_000, requestTimeout: 60_000, keepAliveTimeout: 65_000 }
  const server = createExpressServer(app, limits)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(config.port, resolve)
  })
  const clockLoop = every(
    { intervalMs: clockRefreshMs, run: () => ctx.clock.refresh(), onError: err => log.warn({ err }, 'clock.unknown') },
    stop,
  )
  return {
    async drain() {
      await new Promise<void>(resolve => {
        server.close(() => resolve())
        server.closeIdleConnections()
      })
      await clockLoop
      health.close()
      health.closeAllConnections()
      await ctx.close()
    },
  }
}
