import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '@belfry/embedded'
import { checkout, PlainError, readJson, runService } from '@belfry/launcher'
import { bareEnvironment, type Environment } from '../config.ts'

// The tier of all organizations without billing. Requests are counted, but never limited.
const tiers = JSON.stringify({ unlimited: { requests_per_second: 1_000_000 } })

/** Starts Belfry in one process without Redis, as `belfry start` runs it. */
export async function startBelfry(databaseUrl: string, folder: string, concurrency: number) {
  const port = await freePort()
  const account = join(folder, 'account.json')
  const program = await start(join(checkout, 'programs/all-in-one/dist/main.mjs'), port, join(folder, 'belfry.log'), {
    DATABASE_URL: databaseUrl,
    HOST: '127.0.0.1',
    METRICS_HOST: '127.0.0.1',
    PORT: String(port),
    METRICS_PORT: String(await freePort()),
    JWT_SECRET: randomBytes(32).toString('hex'),
    ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    FIRST_ACCOUNT: account,
    TIERS: tiers,
    ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8',
    DISPATCH_CONCURRENCY: String(concurrency),
    HOST_CONCURRENCY: String(concurrency),
  })
  const { apiKey } = readJson(account) as { apiKey: string } // the API has written it
  return Object.assign(program, { headers: { 'x-api-key': apiKey } })
}

/** Starts the floor. It is another command of this program: see `floor.ts`. */
export async function startFloor(databaseUrl: string, folder: string) {
  const port = await freePort()
  const env = { DATABASE_URL: databaseUrl }
  return start(process.argv[1] ?? '', port, join(folder, 'floor.log'), env, ['bench-floor', String(port)])
}

async function start(program: string, port: number, logFile: string, env: Environment, args: readonly string[] = []) {
  const service = runService(program, bareEnvironment(env), logFile, args)
  if (!(await service.ready)) throw new PlainError(readFileSync(logFile, 'utf8').slice(-2_000))
  return { send: service.send, url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: service.stop }
}
