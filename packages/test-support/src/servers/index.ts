export { endWithThisProcess } from './end-with-this-process.ts'
export { findInstalledPostgres } from './find-installed-postgres.ts'
export { findRedisServer } from './find-redis-server.ts'
export { type Redis, type RedisOptions, startRedis } from './start-redis.ts'
