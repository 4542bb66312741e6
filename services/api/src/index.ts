export { loadConfig } from './config.ts'
export { startApi } from './start-api.ts'
