export { createCertificate } from './certificate.ts'
export { type ConnectProxyOptions, startConnectProxy } from './connect-proxy.ts'
export { documentedVariables } from './documented-variables.ts'
export { type MailServer, type MailServerOptions, startMailServer } from './mail-server.ts'
export { findObjectStore, type ObjectStore, startObjectStore } from './object-store.ts'
export { startOwnServer } from './own-server.ts'
export { privateUrls } from './private-urls.ts'
export { type Receiver, type ReceiverOptions, startReceiver } from './receiver.ts'
export type { Behaviour } from './receiver-behaviour.ts'
export { type RedisCluster, startRedisCluster } from './redis-cluster.ts'
export { type ReplicatedDatabase, startReplicatedDatabase } from './replicated-database.ts'
export { serviceUrl } from './service-url.ts'
export {
  type StandInSubscription,
  type StripeStandIn,
  startStripeStandIn,
  whyNoStripe,
} from './stripe-stand-in.ts'
export { borrowTestDatabase, createEmptyDatabase, createTestDatabase, type TestDatabase } from './test-database.ts'
export { queueBackends, testRedisUrl } from './test-redis.ts'
export { testServers } from './test-servers.ts'
export { undocumented } from './undocumented.ts'
