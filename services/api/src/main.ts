import { createLogger, failToStart, runService } from '@belfry/runtime'
import { loadConfig } from './config.ts'
import { startApi } from './start-api.ts'

try {
  const config = loadConfig()
  const log = createLogger('api', config.logLevel)
  const options = { roles: ['api'], operatorPort: config.healthPort, traces: config.traces }
  await runService(log, options, host => startApi(config, log, host))
} catch (error) {
  failToStart(error)
}
