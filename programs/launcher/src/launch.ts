import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { accessSync, constants, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { freePort, startPostgres, tryPort, waitUntil } from '@belfry/embedded'
import { banner, details } from './banner.ts'
import { type Config, checkout, type Environment, isImage, startCommand } from './config.ts'
import { startDemo } from './demo/start-demo.ts'
import { startEchoReceiver } from './echo-receiver.ts'
import { codeOf, PlainError, reasonOf } from './errors.ts'
import { findQstash } from './find-qstash.ts'
import { type Account, readAccount } from './first-account.ts'
import { keepServer } from './keep-server.ts'
import { keepService } from './keep-service.ts'
import { isAlive, killLeftover, type Lock, type ProcessRecord, takeLock } from './lock.ts'
import type { Opened } from './opened.ts'
import { loadSecrets } from './secrets.ts'
import { type ServiceSettings, serviceEnvironment } from './service-environment.ts'
import { say } from './terminal.ts'
import { claimVolume, endsWithContainer } from './volume.ts'

// Longer than an orderly stop of another container takes.
const volumeTimeoutMs = 75_000
const maxTries = 3
const cli = join(checkout, 'programs/cli/dist/main.mjs')

/** Starts everything, and prints how to use it. `opened` holds everything that was started, even after a failure. */
export async function launch(config: Config, opened: Opened[], stop: AbortSignal): Promise<void> {
  const { dataDir } = config
  const port = config.port || (await freePort())
  const url = `http://localhost:${port}`
  prepareDataFolder(dataDir)
  if (isImage) opened.push(await claimVolume(join(dataDir, 'running.sock'), volumeTimeoutMs, stop))
  const lock = takeLock(join(dataDir, 'run.json'), url)
  if ('holder' in lock) return say(`Belfry is already running at ${lock.holder.url} (process ${lock.holder.pid}).`)
  opened.push({ stop: async () => lock.release(), kill: lock.release })
  await outlive(lock.leftovers, stop)
  await requirePort(port)
  stop.throwIfAborted()
  const secrets = loadSecrets(join(dataDir, 'secrets.json'))
  const servers = await startServers(config, port, opened)
  stop.throwIfAborted()
  await migrate(servers.databaseUrl, { ...config.env, ...servers.roleUrls }, stop)
  const echo = await startEchoReceiver(beside(port, 1))
  opened.push(echo)
  const operatorPort = await startService(config, { ...servers, dataDir, port, secrets }, lock, opened, stop)
  lock.recordOperatorPort(operatorPort)
  if (config.env.BACKUP_SCHEDULE) await startBackups(config, lock, opened, stop)
  if (isImage && endsWithContainer(dataDir))
    say(`No volume is mounted on ${dataDir}: the data ends with this container.`)
  if (!config.hasApi) return say(`Belfry is running as ${config.env.ROLES}. Its log is ${dataDir}/logs/belfry.log`)
  const account = await findAccount(join(dataDir, 'account.json'), url)
  if (config.demo && account) opened.push(await startDemo(url, account, join(dataDir, 'demo.json'), beside(port, 6)))
  const env = serviceEnvironment(config.env, { ...servers, dataDir, port, operatorPort, secrets })
  const qstash = account && (await findQstash(url, account.apiKey, env.QSTASH_DEV_PORT ?? null))
  const isBehindProxy = Boolean(config.env.http_proxy || config.env.all_proxy || config.env.ALL_PROXY)
  const redis = config.redisUrl && withoutPassword(config.redisUrl)
  const operatorPassword = env.OPERATOR_PASSWORD ?? ''
  const access = { host: env.HOST ?? '', registration: env.REGISTRATION ?? 'invite', operatorPassword }
  const detailsFile = join(dataDir, 'details.txt')
  const metricsUrl = `http://localhost:${operatorPort}/metrics`
  const places = { url, echoUrl: echo.url, dataDir, detailsFile, metricsUrl, cli }
  const facts = { ...servers, ...access, ...places, redis, account, qstash, isBehindProxy }
  writeFileSync(detailsFile, details(facts), { mode: 0o600 })
  say(banner(facts))
}

function prepareDataFolder(dataDir: string): void {
  try {
    mkdirSync(join(dataDir, 'logs'), { recursive: true })
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    const advice = isImage
      ? 'Make user 1000 the owner of the mounted folder: chown -R 1000:1000 <folder>'
      : `Change its owner to your user, or choose another directory: DATA_DIR=/some/where ${startCommand}`
    throw new PlainError(`The data directory ${dataDir} cannot be used: ${reason(error)}.\n${advice}`)
  }
}

async function requirePort(port: number): Promise<void> {
  try {
    // Some systems let one program listen on all addresses and another on loopback, and a browser could reach either.
    await tryPort(port, null)
    await tryPort(port)
  } catch (error) {
    const code = codeOf(error)
    if (code !== 'EADDRINUSE' && code !== 'EACCES') throw error
    const other = await freePort(port < 1024 ? 3000 : (port + 100) % 65_536)
    const problem =
      code === 'EACCES'
        ? 'requires privileges that you do not have. Choose'
        : 'is in use by another program. Stop it, or choose'
    throw new PlainError(`Port ${port} ${problem} another port: PORT=${other} ${startCommand}`)
  }
}

function reason(error: unknown): string {
  const code = codeOf(error)
  if (code === 'EACCES' || code === 'EPERM')
    return 'you have no permission to write there (did another user, such as root, create it?)'
  if (code === 'EEXIST' || code === 'ENOTDIR') return 'a file is in its place'
  return reasonOf(error)
}

// The service of a killed launcher finishes its work, and still uses the port.
async function outlive(leftovers: ProcessRecord[], stop: AbortSignal): Promise<void> {
  const areGone = () => stop.aborted || !leftovers.some(isAlive)
  if (await waitUntil(areGone, 1000)) return
  say('Waiting for the process of the last start to end ...')
  await waitUntil(areGone, 35_000)
  for (const leftover of leftovers) killLeftover(leftover)
  await waitUntil(areGone, 5000)
}

async function migrate(databaseUrl: string, env: Environment, signal: AbortSignal): Promise<void> {
  const command = [join(checkout, 'prisma/dist/main.mjs'), 'deploy']
  const running = promisify(execFile)(process.execPath, command, { env: { ...env, DATABASE_URL: databaseUrl }, signal })
  const { stdout } = running.child
  // It waits a minute for an unreachable server. Without these lines, that would look like a hang.
  if (stdout) createInterface({ input: stdout }).on('line', line => line.startsWith('waiting') && say(line))
  await running.catch(({ stderr }) => {
    throw new PlainError(`The database migration failed. ${stderr}`.trimEnd())
  })
}

// Another program can take the port before the service listens on it. Then the service starts on another port. Returns the
// port of the operators.
async function startService(
  { dataDir, env }: Config,
  settings: Omit<ServiceSettings, 'operatorPort'>,
  lock: Lock,
  opened: Opened[],
  stop: AbortSignal,
): Promise<number> {
  let operatorPort = await freePort(Number(env.METRICS_PORT) || beside(settings.port, 4))
  for (let tries = 1; ; tries++) {
    const service = keepService({
      program: join(checkout, 'programs/all-in-one/dist/main.mjs'),
      env: serviceEnvironment(env, { ...settings, operatorPort }),
      logFile: isImage ? null : join(dataDir, 'logs/belfry.log'),
      onProcess: pid => lock.recordService('belfry', pid),
    })
    opened.push(service)
    try {
      await Promise.race([service.ready, aborted(stop)])
      return operatorPort
    } catch (error) {
      if (stop.aborted) throw error
      await service.stop()
      const isFree = await tryPort(operatorPort, null).catch(() => null)
      if (tries === maxTries || isFree !== null) throw error
      say(`Port ${operatorPort} is in use by another program; trying another port.`)
      operatorPort = await freePort()
    }
  }
}

// It finds the database and the keys in the data folder.
async function startBackups({ dataDir, env }: Config, lock: Lock, opened: Opened[], stop: AbortSignal): Promise<void> {
  const backups = keepService({
    program: join(checkout, 'programs/maintenance/dist/main.mjs'),
    args: ['backup', 'schedule'],
    title: 'The schedule of backups',
    env: { ...env, DATA_DIR: dataDir },
    logFile: isImage ? null : join(dataDir, 'logs/backup.log'),
    onProcess: pid => lock.recordService('backup', pid),
  })
  opened.push(backups)
  await Promise.race([backups.ready, aborted(stop)])
}

async function aborted(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, 'abort')
  throw signal.reason
}

// Without the account everything still works, for users who have one.
async function findAccount(file: string, url: string): Promise<Account | null> {
  try {
    const account = await readAccount(file, url)
    if (account === null) say(`Sign in with your own account: ${file} has no valid key of this database.`)
    return account
  } catch (error) {
    say(`The first account could not be read: ${reasonOf(error)}`)
    return null
  }
}

/**
 * Starts a PostgreSQL on a port next to the API's, unless the user has set one. Returns the database of the services, its
 * description for the user, and the URLs of the services' own roles, as variables.
 */
async function startServers(config: Config, port: number, opened: Opened[]) {
  const { databaseUrl, dataDir } = config
  // The environment may have the URLs of the roles.
  if (databaseUrl) return { databaseUrl, roleUrls: {}, database: withoutPassword(databaseUrl) }
  const place = { dataDir: join(dataDir, 'postgres'), logFile: join(dataDir, 'logs/postgres.log') }
  const start = (wanted: number) => startPostgres({ ...place, port: wanted })
  // It fails to start for reasons outside our code, so its message is enough.
  const postgres = await start(beside(port, 2)).catch(error => Promise.reject(new PlainError(reasonOf(error))))
  opened.push(keepServer('PostgreSQL', postgres, start))
  const roleUrls = Object.fromEntries(
    services.map(name => [`${name.toUpperCase()}_DATABASE_URL`, roleUrl(postgres.url(), name)]),
  )
  return { databaseUrl: postgres.url(), roleUrls, database: `embedded PostgreSQL, ${postgres.url()}` }
}

const services = ['api', 'scheduler', 'dispatcher']

// The migration sets the password, at each start a new one.
function roleUrl(ownerUrl: string, service: string): string {
  const password = randomBytes(24).toString('hex')
  return Object.assign(new URL(ownerUrl), { username: `belfry_${service}`, password }).href
}

/** Returns a URL without its password. It may have several hosts. */
export function withoutPassword(address: string): string {
  return address.replace(/(:\/\/[^:/?#]*):[^/?#]*@/, '$1@')
}

/** Returns the port `distance` after another one, or 0 (any port) if it does not exist. */
function beside(port: number, distance: number): number {
  return port + distance <= 65_535 ? port + distance : 0
}
