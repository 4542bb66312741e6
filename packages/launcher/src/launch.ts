import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { freePort, waitUntil } from '@belfry/embedded'
import { banner } from './banner.ts'
import { claimPort, isFree } from './claim-port.ts'
import { type Config, checkout, type Environment } from './config.ts'
import { startEchoReceiver } from './echo-receiver.ts'
import { type Account, ensureAccount } from './first-account.ts'
import { keepService } from './keep-service.ts'
import { isAlive, type Lock, type ProcessRecord, takeLock } from './lock.ts'
import type { OpenStack } from './open-stack.ts'
import { PlainError } from './plain-error.ts'
import { loadSecrets } from './secrets.ts'
import { beside, startServers, withoutPassword } from './servers.ts'
import { type ServiceSettings, serviceEnvironment } from './service-environment.ts'
import { say } from './terminal.ts'

const maxTries = 3

/** Starts everything, and prints how to use it. `opened` holds everything that was started, even after a failure. */
export async function launch(config: Config, opened: OpenStack, stop: AbortSignal): Promise<void> {
  const { dataDir } = config
  const port = config.port || (await freePort())
  const url = `http://localhost:${port}`
  prepareDataFolder(dataDir)
  const lock = takeLock(join(dataDir, 'run.json'), url)
  if ('holder' in lock) return say(`Belfry is already running at ${lock.holder.url} (process ${lock.holder.pid}).`)
  opened.push({ stop: async () => lock.release(), kill: lock.release })
  await outlive(lock.leftovers, stop)
  await claimPort(port)
  stop.throwIfAborted()
  const secrets = loadSecrets(join(dataDir, 'secrets.json'))
  const servers = await startServers(config, port, opened)
  stop.throwIfAborted()
  await migrate(servers.databaseUrl, config.env, stop)
  const echo = await startEchoReceiver(beside(port, 1))
  opened.push(echo)
  await startService(config, { ...servers, dataDir, port, secrets }, lock, opened, stop)
  if (!config.hasApi) return say(`Belfry is running as ${config.env.ROLES}. Its log is ${dataDir}/logs/belfry.log`)
  const account = await findAccount(config, url)
  const isBehindProxy = Boolean(config.env.http_proxy || config.env.all_proxy || config.env.ALL_PROXY)
  const operatorPassword = config.env.OPERATOR_PASSWORD || secrets.OPERATOR_PASSWORD
  const redis = config.redisUrl && withoutPassword(config.redisUrl)
  say(banner({ ...servers, url, redis, echoUrl: echo.url, account, operatorPassword, dataDir, isBehindProxy }))
}

function prepareDataFolder(dataDir: string): void {
  try {
    mkdirSync(join(dataDir, 'logs'), { recursive: true })
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    throw new PlainError(
      `The data directory ${dataDir} cannot be used: ${reason(error)}.\n` +
        'Change its owner to your user, or choose another directory: DATA_DIR=/some/where npm start',
    )
  }
}

function reason(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'EACCES' || code === 'EPERM')
    return 'you have no permission to write there (did another user, such as root, create it?)'
  if (code === 'EEXIST' || code === 'ENOTDIR') return 'a file is in its place'
  return error instanceof Error ? error.message : String(error)
}

// The service of a killed launcher finishes its work, and still uses the port.
async function outlive(leftovers: ProcessRecord[], stop: AbortSignal): Promise<void> {
  const areGone = () => stop.aborted || !leftovers.some(isAlive)
  if (await waitUntil(areGone, 1000)) return
  say('Waiting for the process of the last start to end ...')
  await waitUntil(areGone, 35_000)
  for (const { pid } of leftovers.filter(isAlive)) process.kill(pid, 'SIGKILL')
  await waitUntil(areGone, 5000)
}

function migrate(databaseUrl: string, env: Environment, signal: AbortSignal): Promise<void> {
  const command = [join(checkout, 'prisma/dist/main.mjs'), 'deploy']
  const options = { env: { ...env, DATABASE_URL: databaseUrl }, signal }
  return new Promise((resolve, reject) => {
    const { stdout } = execFile(process.execPath, command, options, (error, _output, problem) => {
      if (!error) resolve()
      else reject(new PlainError(`The database migration failed. ${problem}`.trimEnd()))
    })
    // It waits a minute for an unreachable server, which should not look like a hang.
    if (stdout) createInterface({ input: stdout }).on('line', line => line.startsWith('waiting') && say(line))
  })
}

// Another program can take the port before the service listens on it. Then the service starts on another port.
async function startService(
  { dataDir, env }: Config,
  settings: Omit<ServiceSettings, 'operatorPort'>,
  lock: Lock,
  opened: OpenStack,
  stop: AbortSignal,
): Promise<void> {
  let operatorPort = await freePort(beside(settings.port, 4))
  for (let tries = 1; ; tries++) {
    const service = keepService({
      program: join(checkout, 'services/all-in-one/dist/main.mjs'),
      env: serviceEnvironment(env, { ...settings, operatorPort }),
      logFile: join(dataDir, 'logs/belfry.log'),
      onProcess: pid => lock.recordService('belfry', pid),
    })
    opened.push(service)
    try {
      return await Promise.race([service.ready, aborted(stop)])
    } catch (error) {
      if (stop.aborted) throw error
      await service.stop()
      if (tries === maxTries || (await isFree(operatorPort))) throw error
      say(`Port ${operatorPort} is in use by another program; trying another port.`)
      operatorPort = await freePort()
    }
  }
}

async function aborted(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, 'abort')
  throw signal.reason
}

// Without an account everything still works, because users can register.
async function findAccount({ dataDir }: Config, url: string): Promise<Account | null> {
  try {
    return await ensureAccount(join(dataDir, 'account.json'), url)
  } catch (error) {
    say(`The first account could not be created: ${error instanceof Error ? error.message : error}`)
    return null
  }
}
