export { type ConnectProxy, type ConnectProxyOptions, startConnectProxy } from './connect-proxy.ts'
export { type Receiver, startReceiver } from './receiver.ts'
export { createEmptyDatabase, createTestDatabase, type TestDatabase } from './test-database.ts'
export { queueBackends, testRedisUrl } from './test-redis.ts'
