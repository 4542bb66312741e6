import type { Bounds, Costs, Load } from './model.ts'

/**
 * Bytes were measured on the product's tables: 100,000 tasks with 1 KB payloads, waiting and then finished. The CPU and the
 * log are those of a prototype of the same statements on 2.3 GHz cores, with some room for what it left out; `npm run bench`
 * tells those of a machine (`dispatch_cpu...`, `create_cpu...`, `wal_bytes_per_dispatch`, `redis_bytes_per_task...`).
 */
export const costs: Costs = {
  apiCpuUs: 150,
  dispatcherCpuUs: 80,
  postgresCpuUs: 110,
  redisCpuUs: 3,
  redisCpuAloneUs: 90,
  waitingBytes: 700,
  finishedBytes: 900,
  runBytes: 600,
  walBytes: 4_500,
  redisBytes: 110,
  redisBytesAlone: 440,
}

export const bounds: Bounds = {
  utilisation: 0.6,
  postgresCores: 64,
  walMbPerSecond: 400,
  postgresConnections: 1_000,
  partitionRows: 5e9,
  databaseTb: 30,
}

export const sizes: Load[] = [1_000, 10_000, 100_000].map(dispatchesPerSecond => ({
  dispatchesPerSecond,
  daysAhead: 7,
  keptDays: 30,
  soonShare: 0.2,
  payloadBytes: 1_000,
  answerMs: 200,
}))
