import { createLogger, failToStart, runService } from '@belfry/runtime'
import { loadConfig } from './config.ts'
import { startScheduler } from './start-scheduler.ts'

try {
  const config = loadConfig()
  const log = createLogger('scheduler', config.logLevel)
  await runService(log, stop => startScheduler(config, log, stop))
} catch (error) {
  failToStart(error)
}
