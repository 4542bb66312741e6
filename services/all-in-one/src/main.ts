import { failToStart, openLog, runService } from '@belfry/runtime'
import { type Environment, loadConfig } from './config.ts'
import { type LoadedRole, loadRoles } from './load-roles.ts'
import { startRoles } from './start-roles.ts'

try {
  const { roles, env } = loadConfig()
  const [, program = '', ...rest] = process.argv
  if (rest.length > 0) await runQuarantine(env)
  else await runRoles(await loadRoles(roles, env, program))
} catch (error) {
  failToStart(error)
}

async function runRoles(roles: LoadedRole[]): Promise<void> {
  const [{ config }] = roles as [LoadedRole] // there is at least one, and all read the same variables
  const names = roles.map(({ name }) => name)
  const loggerOf = openLog(config.logLevel)
  const log = loggerOf(names.length === 1 ? String(names[0]) : 'belfry')
  const traces = roles.some(role => role.config.traces)
  await runService(log, { roles: names, operatorPort: config.healthPort, traces }, host =>
    startRoles(roles, loggerOf, host),
  )
}

// The dispatcher starts this program with an argument for its quarantine.
async function runQuarantine(env: Environment): Promise<void> {
  const dispatcher = await import('@belfry/dispatcher')
  await dispatcher.runQuarantine(dispatcher.loadConfig(env))
}
