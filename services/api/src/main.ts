import { runRole } from '@belfry/runtime'
import { loadConfig } from './config.ts'
import { startApi } from './start-api.ts'

await runRole('api', loadConfig, startApi)
