import { randomBytes } from 'node:crypto'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '@belfry/embedded'
import pg from 'pg'
import { type Caller, callApi, signUp } from '../../api-calls.ts'
import { type RunningService, type ServiceName, spawnService } from '../../processes.ts'
import { waitFor } from '../../wait-for.ts'
import { type Behaviour, type BenchTarget, startBenchTarget } from './bench-target.ts'
import { endWithThisProcess } from './end-with-this-process.ts'
import { type BenchPostgres, type BenchRedis, startBenchPostgres, startBenchRedis } from './servers.ts'
import type { Template } from './template.ts'

/** How a call of the API to create a task went. */
export type CreateAnswer = {
  path: string
  /** `broken` when the connection ended without an answer. */
  status: number | 'broken'
  /** Null unless the status is 201. */
  id: string | null
  executeAt: number
  tookMs: number
}

/** How a call of the API to cancel a task went. */
export type CancelAnswer = { id: string; status: number | 'broken' }

export type TaskSpec = {
  path: string
  /** From now. Default 1,500. */
  inMs?: number
  /** In epoch milliseconds, instead of `inMs`: for a body that is sent twice. */
  executeAt?: number
  /** Sent as `Idempotency-Key`. */
  key?: string
  /** Default: one 200 after another. */
  answers?: readonly Behaviour[]
  /** Default 5, a fixed second apart, so that a lease ends 16 s after its claim. */
  maxRetries?: number
  baseDelayMs?: number
  timeoutMs?: number
  payload?: unknown
  /** Whose task: one of the two workspaces. Default the first. */
  caller?: 0 | 1
  /** Another target than the bench's own. */
  url?: string
}

export type StartOptions = {
  /** The value of FAILPOINTS. */
  failpoints?: string
  env?: Record<string, string>
}

/** A whole installation on servers of its own, whose every part can be made to fail. */
export type Bench = {
  url: string
  folder: string
  target: BenchTarget
  postgres: BenchPostgres
  redis: BenchRedis
  services: RunningService[]
  creates: CreateAnswer[]
  cancels: CancelAnswer[]
  /** Faults of the row itself: what it demanded and did not get. */
  faults: string[]
  /** What is worth telling of a row beside the counts. */
  notes: string[]
  start(name: ServiceName, options?: StartOptions): Promise<RunningService>
  /** Without waiting until it is ready. */
  spawn(name: ServiceName, options?: StartOptions): RunningService
  /** Starts one of each, signs up, and returns the dispatcher. */
  startAll(options?: Partial<Record<ServiceName, StartOptions>>): Promise<Record<ServiceName, RunningService>>
  /** Makes the two workspaces. Needs an API. */
  signUp(): Promise<void>
  create(spec: TaskSpec): Promise<CreateAnswer>
  cancel(id: string): Promise<CancelAnswer>
  sql<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>
  /** Writes a fault down unless the condition holds. */
  demand(condition: boolean, sentence: string): void
  close(): Promise<void>
}

let benches = 0

export async function openBench(template: Template, options: { persistRedis?: boolean } = {}): Promise<Bench> {
  const folder = join(template.folder, `bench-${++benches}`)
  await mkdir(folder)
  await template.copyTo(join(folder, 'postgres'))
  const closers: Array<() => Promise<unknown>> = [() => rm(folder, { recursive: true, force: true, maxRetries: 5 })]
  const opened = async <T extends { close(): Promise<unknown> }>(opening: Promise<T>): Promise<T> => {
    const thing = await opening
    closers.push(() => thing.close())
    return thing
  }
  const close = async () => {
    for (const end of closers.splice(0).reverse()) await end()
  }
  try {
    const postgres = await opened(startBenchPostgres(join(folder, 'postgres')))
    const redis = await opened(startBenchRedis(folder, options.persistRedis ?? false))
    const target = await opened(startBenchTarget())
    return await assemble({ folder, postgres, redis, target }, closers, close)
  } catch (error) {
    await close()
    throw error
  }
}

async function assemble(
  parts: Pick<Bench, 'folder' | 'postgres' | 'redis' | 'target'>,
  closers: Array<() => Promise<unknown>>,
  close: () => Promise<void>,
): Promise<Bench> {
  const { postgres, redis, target } = parts
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const env: Record<string, string> = {
    DATABASE_URL: postgres.productUrl,
    REDIS_URL: redis.productUrl,
    PORT: String(port),
    METRICS_PORT: '0',
    PUBLIC_URL: url,
    JWT_SECRET: randomBytes(32).toString('hex'),
    ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8',
    DEFAULT_TIER: 'unicorn',
  }
  const pool = new pg.Pool({ connectionString: postgres.url, max: 2, application_name: 'bench' })
  pool.on('error', () => {}) // expected while the server is down
  const services: RunningService[] = []
  closers.push(
    () => pool.end(),
    () => Promise.all(services.map(service => service.stop('SIGKILL'))),
  )
  const creates: CreateAnswer[] = []
  const cancels: CancelAnswer[] = []
  const faults: string[] = []
  const callers: Caller[] = []

  function launch(name: ServiceName, { failpoints, env: more }: StartOptions = {}) {
    const launched = spawnService(
      name,
      { ...env, ...(failpoints ? { FAILPOINTS: failpoints } : {}), ...more },
      'faults.mjs',
    )
    const { service } = launched
    const pid = endWithThisProcess(service.pid)
    void service.ended.then(() => pid.forget())
    services.push(service)
    return launched
  }

  async function start(name: ServiceName, more?: StartOptions): Promise<RunningService> {
    const { service, ready } = launch(name, more)
    const first = await Promise.race([ready, service.ended])
    if (first !== 'ready') throw new Error(`The ${name} ended with ${first} instead of starting:\n${service.output}`)
    return service
  }

  async function signUpBoth(): Promise<void> {
    if (callers.length === 0) callers.push(await signUp(url), await signUp(url))
  }

  async function create(spec: TaskSpec): Promise<CreateAnswer> {
    if (spec.answers) target.answer(spec.path, spec.answers)
    const executeAt = spec.executeAt ?? Math.round(Date.now() + (spec.inMs ?? 1_500))
    const delay = spec.baseDelayMs ?? 1_000
    const body = {
      name: spec.path,
      url: spec.url ?? target.url(spec.path),
      method: 'POST',
      execute_at: new Date(executeAt).toISOString(),
      timeout_ms: spec.timeoutMs ?? 1_000,
      retry: { max_retries: spec.maxRetries ?? 5, backoff: 'fixed', base_delay_ms: delay, max_delay_ms: delay },
      ...(spec.payload === undefined ? {} : { payload: spec.payload }),
    }
    const began = performance.now()
    const caller = { ...callers[spec.caller ?? 0], ...(spec.key === undefined ? {} : { idempotencyKey: spec.key }) }
    const answer = await callApi(url, caller, 'POST', '/api/v1/scheduler/tasks', body).catch(() => null)
    const created: CreateAnswer = {
      path: spec.path,
      status: answer?.status ?? 'broken',
      id: answer?.status === 201 ? answer.body.id : null,
      executeAt,
      tookMs: Math.round(performance.now() - began),
    }
    creates.push(created)
    return created
  }

  async function cancel(id: string): Promise<CancelAnswer> {
    const path = `/api/v1/scheduler/tasks/${id}`
    // Of the second workspace when the first does not know it.
    const first = await callApi(url, callers[0] ?? {}, 'DELETE', path).catch(() => null)
    const answer =
      first?.status === 404 ? await callApi(url, callers[1] ?? {}, 'DELETE', path).catch(() => null) : first
    const cancelled: CancelAnswer = { id, status: answer?.status ?? 'broken' }
    cancels.push(cancelled)
    return cancelled
  }

  return {
    ...parts,
    url,
    services,
    creates,
    cancels,
    faults,
    notes: [],
    start,
    spawn: (name, more) => launch(name, more).service,
    async startAll(more = {}) {
      const [api, scheduler, dispatcher] = await Promise.all(
        (['api', 'scheduler', 'dispatcher'] as const).map(name => start(name, more[name])),
      )
      if (!api || !scheduler || !dispatcher) throw new Error('Three were started.')
      await signUpBoth()
      return { api, scheduler, dispatcher }
    },
    signUp: signUpBoth,
    create,
    cancel,
    async sql<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []) {
      return (await pool.query<Row>(text, values)).rows
    },
    demand(condition, sentence) {
      if (!condition) faults.push(sentence)
    },
    close,
  }
}

/** Waits until a number of tasks of the bench, of whatever owner, is in one of the states. */
export async function untilInState(bench: Bench, states: string[], count: number, timeoutMs = 30_000): Promise<void> {
  const text = 'SELECT count(*)::int AS n FROM tasks WHERE state = ANY ($1::task_state[])'
  await waitFor(
    async () => (await bench.sql<{ n: number }>(text, [states]))[0]?.n ?? 0,
    n => n >= count,
    timeoutMs,
  )
}
