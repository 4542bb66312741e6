import { createLogger, runService } from '@belfry/runtime'
import type { Config } from '../config.ts'
import { startQuarantine } from './start-quarantine.ts'

/** Runs the quarantine in this process, from its start to its stop. */
export async function runQuarantine(config: Config): Promise<void> {
  const log = createLogger('quarantine', config.logLevel)
  const options = { roles: ['dispatcher'], operatorPort: null, traces: config.traces }
  await runService(log, options, (host, end) => startQuarantine(config, log, host, end))
}
