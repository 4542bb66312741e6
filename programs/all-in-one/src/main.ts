import {
  failToStart,
  type Host,
  installVirtualDate,
  type Logger,
  openLog,
  runService,
  type Service,
  type VirtualClock,
} from '@belfry/runtime'
import { type Environment, loadConfig, loadTestConfig, receiveEnvironment } from './config.ts'
import { type LoadedRole, loadRoles, withDatabaseOf } from './load-roles.ts'

try {
  // The roles load after that, so their libraries see only this clock.
  if (__VIRTUAL_CLOCK__) installVirtualDate()
  const { roles, env } = loadConfig(__VIRTUAL_CLOCK__ ? await loadTestEnvironment() : undefined)
  const [, program = '', ...rest] = process.argv
  if (rest.length > 0) await runQuarantine(withDatabaseOf('dispatcher', env))
  else if (__VIRTUAL_CLOCK__) await runVirtually(loadTestConfig(env).databaseUrl, () => loadRoles(roles, env, program))
  else await runRoles(await loadRoles(roles, env, program))
} catch (error) {
  failToStart(error)
}

// The roles load while the test kit starts the database.
async function loadTestEnvironment(): Promise<Environment> {
  const env = receiveEnvironment()
  await Promise.all([import('@belfry/api'), import('@belfry/scheduler'), import('@belfry/dispatcher')])
  return env
}

// The roles connect after the virtual clock is installed.
async function runVirtually(databaseUrl: string, load: () => Promise<LoadedRole[]>): Promise<void> {
  const { openProcessClock } = await import('./virtual-clock/open-virtual-clock.ts')
  const { clock, close } = await openProcessClock(databaseUrl, openLog('warn')('belfry'))
  await runRoles(await load(), clock)
  await close()
}

async function runRoles(roles: LoadedRole[], virtualClock?: VirtualClock): Promise<void> {
  const [{ config }] = roles as [LoadedRole] // there is at least one, and all read the same variables
  const names = roles.map(({ name }) => name)
  const loggerOf = openLog(config.logLevel)
  const log = loggerOf(names.length === 1 ? String(names[0]) : 'belfry')
  const traces = roles.some(role => role.config.traces)
  await runService(
    log,
    { drainMs: config.drainMs, roles: names, operatorListen: config.operatorListen, traces },
    host => startRoles(roles, loggerOf, virtualClock ? { ...host, virtualClock } : host),
  )
}

// Starts roles sequentially and drains them in parallel. When one role fails to drain, the others still finish.
async function startRoles(
  roles: readonly LoadedRole[],
  loggerOf: (role: string) => Logger,
  host: Host,
): Promise<Service> {
  const services: Service[] = []
  for (const { name, start } of roles) services.push(await start(loggerOf(name), host))
  return {
    async drain() {
      const results = await Promise.allSettled(services.map(service => service.drain()))
      const failure = results.find(result => result.status === 'rejected')
      if (failure) throw failure.reason
    },
  }
}

// The dispatcher starts this program with an argument for its quarantine.
async function runQuarantine(env: Environment): Promise<void> {
  const dispatcher = await import('@belfry/dispatcher')
  await dispatcher.runQuarantine(() => dispatcher.loadConfig(env))
}
