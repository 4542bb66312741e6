export { loadConfig } from './config.ts'
export { startScheduler } from './start-scheduler.ts'
