import { once } from 'node:events'
import { join } from 'node:path'
import { freePort, waitUntil } from '@belfry/embedded'
import { banner } from './banner.ts'
import { claimPort } from './claim-port.ts'
import { type Config, checkout } from './config.ts'
import { prepareDataFolder } from './data-folder.ts'
import { startEchoReceiver } from './echo-receiver.ts'
import { type Account, ensureAccount } from './first-account.ts'
import { keepService, type Service } from './keep-service.ts'
import { isAlive, type Lock, type ProcessRecord, takeLock } from './lock.ts'
import { migrate } from './migrate.ts'
import type { OpenStack } from './open-stack.ts'
import { loadSecrets } from './secrets.ts'
import { beside, startServers } from './servers.ts'
import { type ServiceSettings, serviceEnvironment } from './service-environment.ts'
import { say } from './terminal.ts'

const serviceNames = ['api', 'scheduler', 'dispatcher']

/** Starts everything, and tells the user what to do with it. Whatever was opened is on the stack, also after a failure. */
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
  const metricsPorts = { scheduler: await freePort(beside(port, 4)), api: await freePort(beside(port, 5)) }
  const settings = { ...servers, dataDir, port, metricsPorts, secrets }
  const services = startServices(config, settings, lock, opened)
  await Promise.race([Promise.all(services.map(service => service.ready)), aborted(stop)])
  const account = await findAccount(config, url)
  const isBehindProxy = Boolean(config.env.http_proxy || config.env.all_proxy || config.env.ALL_PROXY)
  const operatorPassword = config.env.OPERATOR_PASSWORD || secrets.OPERATOR_PASSWORD
  say(banner({ ...servers, url, echoUrl: echo.url, account, operatorPassword, dataDir, isBehindProxy }))
}

// A launcher that was killed left its services to finish what they had in hand, and they still have the port.
async function outlive(leftovers: ProcessRecord[], stop: AbortSignal): Promise<void> {
  const areGone = () => stop.aborted || !leftovers.some(isAlive)
  if (await waitUntil(areGone, 1000)) return
  say('Waiting for the services of the last start to end ...')
  await waitUntil(areGone, 35_000)
  for (const { pid } of leftovers.filter(isAlive)) process.kill(pid, 'SIGKILL')
  await waitUntil(areGone, 5000)
}

function startServices({ dataDir, env }: Config, settings: ServiceSettings, lock: Lock, opened: OpenStack): Service[] {
  const services = serviceNames.map(name =>
    keepService({
      name,
      program: join(checkout, 'services', name, 'dist/main.mjs'),
      env: serviceEnvironment(name, env, settings),
      logFile: join(dataDir, 'logs', `${name}.log`),
      onProcess: pid => lock.noteService(name, pid),
    }),
  )
  opened.push({
    stop: () => Promise.all(services.map(service => service.stop())),
    kill: () => services.forEach(service => void service.kill()),
  })
  return services
}

async function aborted(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, 'abort')
  throw signal.reason
}

// Without an account everything still runs, and a user can register.
async function findAccount({ dataDir }: Config, url: string): Promise<Account | null> {
  try {
    return await ensureAccount(join(dataDir, 'account.json'), url)
  } catch (error) {
    say(`The first account could not be made: ${error instanceof Error ? error.message : error}`)
    return null
  }
}
