import { randomUUID } from 'node:crypto'
import { enterDispatchers } from '@belfry/db/dispatchers/heartbeat'
import { openPool, type Pool } from '@belfry/db/postgres/pool'
import type { Claim, ClaimRequest } from '@belfry/db/tasks/claimed-row'
import { fromId } from '@belfry/domain/id'
import { defaultTiers } from '@belfry/domain/tiers'
import { createLogger, openMeter } from '@belfry/runtime'
import { onTestFinished } from 'vitest'
import { openMetrics } from '../src/metrics.ts'
import { openBatches } from '../src/statements/batched-statements.ts'
import { type IntakeTest, setupIntake } from './intake/setup-intake.ts'

type Batches = ReturnType<typeof openBatches>

export type Stage = {
  test: IntakeTest
  pool: Pool
  dispatcherId: string
  batches: Batches
  stop: AbortController
}

/** Opens the batches of a dispatcher on a database of its own, with a lock timeout of a second. */
export async function setupBatches(): Promise<Stage> {
  const test = await setupIntake('postgres', 0)
  const onError = (error: Error) => console.error(error)
  const pool = openPool(test.databaseUrl, { max: 6, onError, plansOnce: true, lockTimeoutMs: 1_000 })
  const dispatcher = await enterDispatchers(pool)
  const stop = new AbortController()
  onTestFinished(async () => {
    stop.abort()
    await pool.end()
    await test.close()
  })
  const log = createLogger('dispatcher', 'silent')
  const batches = openBatches({
    pool,
    dispatcher,
    log,
    tiers: defaultTiers,
    metrics: openMetrics(openMeter('dispatcher')),
    concurrency: 2_000,
    stop: stop.signal,
  })
  return { test, pool, dispatcherId: dispatcher.id, batches, stop }
}

export async function storeTasks({ test }: Stage, workspace: string, count: number): Promise<string[]> {
  const tasks = await test.store({ count, workspace, url: 'http://127.0.0.1:9/', dueInMs: -1_000 })
  return tasks.map(({ id }) => fromId('task', id) ?? '')
}

export const claimTask = ({ batches }: Stage, request: ClaimRequest): Promise<Claim> =>
  new Promise((onAnswer, onError) => batches.claim({ request, onAnswer, onError }))

export const claimAll = (stage: Stage, ids: string[]) =>
  Promise.all(ids.map(async taskId => (await claimTask(stage, { taskId, token: randomUUID() })).kind))

export const all = (kind: string, count: number) => Array(count).fill(kind)
