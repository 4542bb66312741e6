export { loadConfig } from './config.ts'
export { runQuarantine } from './quarantine/run-quarantine.ts'
export { startDispatcher } from './start-dispatcher.ts'
