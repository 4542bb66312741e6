import { failToStart, runRole } from '@belfry/runtime'
import { loadConfig } from './config.ts'
import { runQuarantine } from './quarantine/start-quarantine.ts'
import { quarantineArgument } from './quarantine/supervise-quarantine.ts'
import { startDispatcher } from './start-dispatcher.ts'

const [, program, argument] = process.argv
if (argument === quarantineArgument) await runQuarantine(loadConfig).catch(failToStart)
else await runRole('dispatcher', loadConfig, (config, log, host) => startDispatcher(config, log, host, program))
