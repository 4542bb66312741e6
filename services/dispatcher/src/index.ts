export { loadConfig } from './config.ts'
export { runQuarantine } from './quarantine/start-quarantine.ts'
export { startDispatcher } from './start-dispatcher.ts'
