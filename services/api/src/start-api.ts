import { createServer, type Server } from 'node:http'
import { inspectDatabase } from '@belfry/db/postgres/inspect-database'
import { pingPool } from '@belfry/db/postgres/pool'
import { isTimeZone } from '@belfry/domain/cron/zone-pieces'
import { version } from '@belfry/domain/version'
import {
  every,
  type Host,
  type Logger,
  listen,
  measureDependencies,
  measurePool,
  reportBuild,
  type Service,
  watchClockSkew,
} from '@belfry/runtime'
import { ensureFirstAccount } from './account/first-account.ts'
import { createApp } from './app.ts'
import type { Config } from './config.ts'
import { closeContext, openContext } from './context.ts'
import { closeServer, createApiServer } from './http/api-server.ts'
import { warnOfOidc } from './oidc/sign-in.ts'
import { followReplica } from './read-replica.ts'

const clockRefreshMs = 10_000

export async function startApi(config: Config, log: Logger, host: Host): Promise<Service> {
  const { stop } = host
  const ctx = await openContext(config, log, host)
  isTimeZone('Europe/Berlin') // the first time zone of a process takes about 30 ms, so load one before the first request
  const { pool, queue } = ctx
  const checks = { database: () => pingPool(pool), ...(queue && { queue: () => queue.ping() }) }
  const app = createApp(ctx, checks)
  const { meter } = ctx.metrics
  reportBuild(meter, log, { version, revision: config.revision })
  measurePool(meter, pool)
  meter.gauge('belfry_run_streams', 'Live tails of the activity log that are open.', () => ctx.runStreams.size)
  measureDependencies(meter, checks)
  const server = createApiServer(ctx, app)
  const creating = config.firstAccount === null ? null : ensureFirstAccount(ctx, app, config.firstAccount)
  await creating?.catch(err => log.error({ err }, 'first_account.failed'))
  await listen(server, config.listen, host.ports)
  const devPort = config.qstash?.devPort
  const devListener = devPort === undefined ? null : await listenForDevelopment(server, devPort, host, log)
  const warnings = async () => (await Promise.all([inspectDatabase(pool), warnOfOidc(ctx)])).flat()
  host.operators?.report({ checks, warnings })
  const warnOfSkew = watchClockSkew(ctx.clock, meter, log)
  const clockLoop = every(
    {
      intervalMs: clockRefreshMs,
      run: () => ctx.clock.refresh().then(warnOfSkew),
      onError: err => log.warn({ err }, 'clock.unknown'),
    },
    stop,
  )
  const replicaLoop = followReplica(ctx)
  return {
    async drain() {
      await Promise.all([server, devListener].map(each => each && closeServer(each)))
      await Promise.all([clockLoop, replicaLoop])
      await closeContext(ctx)
    },
  }
}

// Also listens where the clients of QStash look for a server in their development mode, on loopback only. Returns null when
// another program has the port: then everything else works.
async function listenForDevelopment(server: Server, port: number, { ports }: Host, log: Logger) {
  const listener = createServer((request, response) => server.emit('request', request, response))
  try {
    await listen(listener, { host: '127.0.0.1', port }, ports)
    return listener
  } catch (err) {
    log.info({ err, port }, 'qstash.port_in_use')
    return null
  }
}
