export { createOwnListeners } from './own-listeners.ts'
export { createResolver } from './resolve-name.ts'
export { createSender } from './send.ts'
