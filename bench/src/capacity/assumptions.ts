import type { Bounds, Costs, Load } from './model.ts'

/**
 * Bytes were measured on the product's tables: 100,000 tasks with 1 KB payloads, waiting and then finished. The CPU is what
 * `npm run bench` showed on two cores of 2.6 GHz, the scheduler's counted as the dispatcher's, creates and dispatches of
 * PostgreSQL together. Of the log, 2,100 bytes of a dispatch are measured; those of a create are reckoned from its rows.
 */
export const costs: Costs = {
  apiCpuUs: 210,
  dispatcherCpuUs: 140,
  postgresCpuUs: 140,
  redisCpuUs: 3,
  redisCpuAloneUs: 65,
  waitingBytes: 700,
  finishedBytes: 900,
  runBytes: 600,
  walBytes: 3_200,
  redisBytes: 110,
  redisBytesAlone: 512,
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
