import { runRole } from '@belfry/runtime'
import { loadConfig } from './config.ts'
import { startScheduler } from './start-scheduler.ts'

await runRole('scheduler', loadConfig, startScheduler)
