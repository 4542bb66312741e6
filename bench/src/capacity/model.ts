/** What an installation is asked to do. */
export type Load = {
  dispatchesPerSecond: number
  /** Of tasks, how long before their time they are made, on average. */
  daysAhead: number
  /** How long the log is kept. */
  keptDays: number
  /** The part of them that is made less than five minutes before its time, retries included: each has a job of its own. */
  soonShare: number
  payloadBytes: number
  /** How long targets take to answer. */
  answerMs: number
}

/** What a dispatch costs, as measured. */
export type Costs = {
  /** CPU of an api for a create, and of a dispatcher and the scheduler for a dispatch, in microseconds. */
  apiCpuUs: number
  dispatcherCpuUs: number
  /** CPU of PostgreSQL for a create and a dispatch together. */
  postgresCpuUs: number
  /** CPU of Redis for a task that shares its job, and for one that has its own. */
  redisCpuUs: number
  redisCpuAloneUs: number
  /** Bytes in PostgreSQL of a waiting task without its payload, of a finished one, and of a run. */
  waitingBytes: number
  finishedBytes: number
  runBytes: number
  walBytes: number
  /** Bytes in Redis of a task that shares its job, and of one that has its own. */
  redisBytes: number
  redisBytesAlone: number
}

/** What the machines may be asked for before the model calls them full. */
export type Bounds = {
  /** The part of a core that is used. */
  utilisation: number
  postgresCores: number
  walMbPerSecond: number
  postgresConnections: number
  partitionRows: number
  databaseTb: number
}

/** What it takes. */
export type Needs = {
  apis: number
  dispatchers: number
  postgresCores: number
  redisCores: number
  queueShards: number
  redisMb: number
  waitingRows: number
  keptRuns: number
  partitions: number
  rowsPerPartition: number
  databaseGb: number
  walMbPerSecond: number
  postgresConnections: number
  redisConnections: number
}

const lookAheadS = 300
const secondsPerDay = 86_400
const daysPerMonth = 30
const callsAtOnce = 200 // DISPATCH_CONCURRENCY
const partitionsAhead = 3
const connections = { api: 20, scheduler: 10, dispatcher: 9 }
const atLeast = 2

/** Says what a steady load needs once the log is as old as it gets. */
export function needsOf(load: Load, costs: Costs, bounds: Bounds): Needs {
  const { dispatchesPerSecond: rate, payloadBytes } = load
  const cores = (us: number) => (rate * us) / 1e6 / bounds.utilisation
  const byCalls = (rate * load.answerMs) / 1000 / callsAtOnce
  const [apis, dispatchers] = [
    Math.max(atLeast, Math.ceil(cores(costs.apiCpuUs))),
    Math.max(atLeast, Math.ceil(cores(costs.dispatcherCpuUs)), Math.ceil(byCalls)),
  ]
  const redisCores = cores(mixed(load, costs.redisCpuUs, costs.redisCpuAloneUs))
  const queueShards = Math.max(1, Math.ceil(redisCores)) // a Redis process uses one core
  const waitingRows = rate * load.daysAhead * secondsPerDay
  const keptRuns = rate * load.keptDays * secondsPerDay
  const waiting = waitingRows * (costs.waitingBytes + payloadBytes)
  const history = keptRuns * (costs.finishedBytes + payloadBytes + costs.runBytes)
  return {
    apis,
    dispatchers,
    postgresCores: Math.max(1, Math.ceil(cores(costs.postgresCpuUs))),
    redisCores,
    queueShards,
    redisMb: (rate * lookAheadS * mixed(load, costs.redisBytes, costs.redisBytesAlone)) / 1e6,
    waitingRows,
    keptRuns,
    partitions: Math.ceil(load.keptDays / daysPerMonth) + 1 + partitionsAhead,
    rowsPerPartition: rate * daysPerMonth * secondsPerDay,
    databaseGb: (waiting + history) / 1e9,
    walMbPerSecond: (rate * (costs.walBytes + payloadBytes)) / 1e6,
    postgresConnections:
      apis * connections.api + atLeast * connections.scheduler + dispatchers * connections.dispatcher,
    // Producers have two each, the dispatchers among them; a dispatcher adds one for each shard and one that they share.
    redisConnections: (apis + atLeast) * 2 + dispatchers * (2 + 1 + queueShards),
  }
}

/** What a task costs on average when some share a job and others have their own. */
export function mixed({ soonShare }: Load, shared: number, alone: number): number {
  return shared * (1 - soonShare) + alone * soonShare
}

export type Limit = { what: string; used: number }

/** How much of each bound is used, the fullest first: what is above 1 breaks, in this order. */
export function limitsOf(needs: Needs, bounds: Bounds): Limit[] {
  const limits = [
    { what: 'cores of one PostgreSQL', used: needs.postgresCores / bounds.postgresCores },
    { what: 'write-ahead log', used: needs.walMbPerSecond / bounds.walMbPerSecond },
    { what: 'connections to PostgreSQL', used: needs.postgresConnections / bounds.postgresConnections },
    { what: 'rows of a month’s partition', used: needs.rowsPerPartition / bounds.partitionRows },
    { what: 'size of the database', used: needs.databaseGb / 1000 / bounds.databaseTb },
    { what: 'one Redis process, without shards', used: needs.redisCores },
  ]
  return limits.sort((a, b) => b.used - a.used)
}
