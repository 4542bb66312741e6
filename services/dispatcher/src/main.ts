import { createLogger, failToStart, runService } from '@belfry/runtime'
import { loadConfig } from './config.ts'
import { runQuarantine } from './quarantine/start-quarantine.ts'
import { quarantineArgument } from './quarantine/supervise-quarantine.ts'
import { startDispatcher } from './start-dispatcher.ts'

try {
  const config = loadConfig()
  const [, program, argument] = process.argv
  if (argument === quarantineArgument) await runQuarantine(config)
  else {
    const log = createLogger('dispatcher', config.logLevel)
    const options = { roles: ['dispatcher'], operatorPort: config.healthPort, traces: config.traces }
    await runService(log, options, host => startDispatcher(config, log, host, program))
  }
} catch (error) {
  failToStart(error)
}
