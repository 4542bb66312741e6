import { randomBytes } from 'node:crypto'
import { createEmptyDatabase, type Receiver, startReceiver, type TestDatabase } from '@belfry/test-support'
import pg from 'pg'
import { type RunningService, type ServiceName, startService } from '../processes.ts'
import { bundlePreviousRelease, deploy, previousBundle } from './previous-release.ts'

/** A database with the tables of the previous release, on which the processes of both versions can run. */
export type UpgradeStage = {
  database: TestDatabase
  target: Receiver
  sql: pg.Client
  /** Starts services of a version. Its API listens on the port. Default: all services. */
  start(version: 'this' | 'previous', port: number, services?: ServiceName[]): Promise<RunningService[]>
  close(): Promise<void>
}

const names: ServiceName[] = ['api', 'scheduler', 'dispatcher']

export async function openUpgradeStage(): Promise<UpgradeStage> {
  await bundlePreviousRelease()
  const [database, target] = await Promise.all([createEmptyDatabase(), startReceiver()])
  await deploy('previous', database.url)
  const sql = new pg.Client({ connectionString: database.url })
  await sql.connect()
  const running: RunningService[] = []
  const secrets = {
    JWT_SECRET: randomBytes(32).toString('hex'),
    ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
  }
  return {
    database,
    target,
    sql,
    async start(version, port, services = names) {
      const env = { ...settings(database.url, port), ...secrets }
      const bundle = (name: ServiceName) => (version === 'this' ? undefined : previousBundle(name))
      const started = await Promise.all(services.map(name => startService(name, env, bundle(name))))
      running.push(...started)
      return started
    },
    async close() {
      await Promise.all(running.map(service => service.stop('SIGKILL')))
      await sql.end()
      await database.drop()
      await target.close()
    },
  }
}

function settings(databaseUrl: string, port: number): Record<string, string> {
  return {
    DATABASE_URL: databaseUrl,
    PORT: String(port),
    METRICS_PORT: '0',
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8',
    REGISTRATION: 'open', // further accounts register without an invitation
    DEFAULT_TIER: 'unicorn',
  }
}
