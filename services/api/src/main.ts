import { createLogger, failToStart, runService } from '@belfry/runtime'
import { loadConfig } from './config.ts'
import { startApi } from './start-api.ts'

try {
  const config = loadConfig()
  const log = createLogger('api', config.logLevel)
  await runService(log, stop => startApi(config, log, stop))
} catch (error) {
  failToStart(error)
}
