import { createLogger, failToStart, runService } from '@belfry/runtime'
import { loadConfig } from './config.ts'
import { startScheduler } from './start-scheduler.ts'

try {
  const config = loadConfig()
  const log = createLogger('scheduler', config.logLevel)
  const options = { roles: ['scheduler'], operatorPort: config.healthPort, traces: false }
  await runService(log, options, host => startScheduler(config, log, host))
} catch (error) {
  failToStart(error)
}
