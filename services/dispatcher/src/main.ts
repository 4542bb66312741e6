import { createLogger, failToStart, runService } from '@belfry/runtime'
import { loadConfig } from './config.ts'
import { startDispatcher } from './start-dispatcher.ts'

try {
  const config = loadConfig()
  const log = createLogger('dispatcher', config.logLevel)
  await runService(log, stop => startDispatcher(config, log, stop))
} catch (error) {
  failToStart(error)
}
