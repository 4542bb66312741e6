export { type Dialect, mysql, postgres, type Run, sqlite } from './dialects.ts'
export { once } from './once.ts'
export { onceInPool } from './once-in-pool.ts'
export { onceInRedis } from './once-in-redis.ts'
