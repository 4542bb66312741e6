import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '@belfry/embedded'
import { type RunningProcess, startProcess } from '@belfry/test-support/servers'
import pg from 'pg'
import { callApi } from '../../api-calls.ts'
import { repositoryRoot } from '../../repository-root.ts'
import { type Fixture, openFixture } from '../fixture/fixture.ts'
import { createRandom } from '../fixture/load.ts'
import type { Template } from '../fixture/template.ts'
import { keepLogs } from '../run-row.ts'
import { seats } from '../torture/plan.ts'
import { keepRunning, startInstallation } from '../torture/seats.ts'
import { type Counted, countEffects, type Effect, holds } from './count-effects.ts'
import { inFlight, type Progress, untilProgress } from './progress.ts'
import { type StoreName, stores } from './stores.ts'

export type ProofOptions = { calls: number; kills: number; store: StoreName; seed: number }

/** What a run has counted. */
export type Proof = ProofOptions &
  Counted & {
    /** Orders whose transaction was committed. */
    stored: number
    /** Attempts of their calls, after the first ones. */
    repeated: number
    seconds: number
  }

const ordersPerSecond = 200

/**
 * Runs an installation with a sender of orders, a relay and a receiver, kills all of their processes at random with SIGKILL, and
 * counts the effects in the receiver's store when all calls have ended. The kills follow the calls, not the time: each comes after
 * its share of the calls has ended.
 */
export async function proveOnce(
  template: Template,
  options: ProofOptions,
  onKill: (line: string) => void,
): Promise<Proof> {
  const fixture = await openFixture(template)
  const beganAt = performance.now()
  try {
    const counts = await run(fixture, options, onKill)
    const proof = { ...options, ...counts, seconds: Math.round((performance.now() - beganAt) / 1_000) }
    if (!holds(proof)) await keepLogs(fixture, `once-${options.store}-${options.seed}`, logs, [JSON.stringify(proof)])
    return proof
  } finally {
    await fixture.close()
  }
}

async function run(fixture: Fixture, options: ProofOptions, onKill: (line: string) => void) {
  const installation = await startInstallation(fixture, { seed: options.seed, minutes: 0, load: [], faults: [] })
  const shop = await openShop(fixture)
  const store = await openStore(fixture, shop.url, options.store)
  const programs = await startPrograms(fixture, shop.url, store.url, options)
  const kill = (name: (typeof victims)[number]) =>
    name in programs
      ? programs[name as keyof typeof programs].service.stop('SIGKILL')
      : installation[name as (typeof seats)[number]].end('SIGKILL', Promise.resolve())

  const { calls, kills, seed } = options
  const observe = () => observeProgress(fixture, shop.pool)
  const random = createRandom(seed)
  let left: Array<(typeof victims)[number]> = []
  for (let i = 0; i < kills; i++) {
    const share = ((i + random()) / kills) * shareOfStored
    if ((await untilProgress(observe, ({ ended }) => ended >= share * calls)).ended < share * calls) break
    // Each of them once before the first one again.
    if (left.length === 0) left = [...victims]
    const [name = victims[0]] = left.splice(Math.floor(random() * left.length), 1)
    onKill(`kill ${i + 1} of ${kills}: ${name}`)
    await kill(name)
  }
  const end = await untilProgress(observe, progress => inFlight(progress, calls) === 0)
  const effects = await stores[options.store].effects(store.url)
  return { ...(await count(fixture, shop.pool, effects)), inFlight: inFlight(end, calls) }
}

// The sender rolls back each tenth order.
const shareOfStored = 0.9
const victims = ['sender', 'relay', 'receiver', ...seats] as const
const logs = join(repositoryRoot(), 'e2e/dist/once')

/** Creates the database of the sender, with the outbox. */
async function openShop(fixture: Fixture): Promise<{ url: string; pool: pg.Pool }> {
  await fixture.sql('CREATE DATABASE shop')
  const url = Object.assign(new URL(fixture.postgres.url), { pathname: 'shop' }).href
  const pool = new pg.Pool({ connectionString: url, max: 2 })
  fixture.onClose(() => pool.end())
  await pool.query('CREATE TABLE orders (number integer PRIMARY KEY)')
  await pool.query(await readFile(join(repositoryRoot(), 'programs/cli/outbox.sql'), 'utf8'))
  return { url, pool }
}

async function openStore(fixture: Fixture, shopUrl: string, name: StoreName) {
  const store = await stores[name].open(fixture.folder, shopUrl)
  fixture.onClose(() => store.close())
  return store
}

async function startPrograms(fixture: Fixture, shopUrl: string, storeUrl: string, { calls, store }: ProofOptions) {
  const [caller = {}] = fixture.callers
  const port = String(await freePort())
  const { body } = await callApi(fixture.url, caller, 'GET', '/api/v1/workspaces/current/signing-secrets')
  return {
    receiver: keep(fixture, ['e2e/dist/once-receiver.mjs'], {
      ...{ PORT: port, SIGNING_SECRET: body.data[0].secret, STORE: store, STORE_URL: storeUrl },
    }),
    relay: keep(fixture, ['programs/cli/dist/main.mjs', 'relay', '--from', shopUrl], {
      ...{ BELFRY_URL: fixture.url, BELFRY_API_KEY: caller.apiKey ?? '', HOME: fixture.folder },
    }),
    sender: keep(fixture, ['e2e/dist/once-sender.mjs'], {
      ...{ SHOP_URL: shopUrl, TARGET_URL: `http://127.0.0.1:${port}/`, ORDERS: String(calls) },
      PER_SECOND: String(ordersPerSecond),
    }),
  }
}

function keep(fixture: Fixture, [program, ...args]: [string, ...string[]], env: Record<string, string>) {
  const spawn = () => startProcess([process.execPath, join(repositoryRoot(), program), ...args], { env })
  const seat: { service: RunningProcess } = { service: spawn() }
  let isClosing = false
  const running = keepRunning(seat, spawn, async () => {
    if (isClosing) throw new Error('The fixture is closing.')
  })
  running.catch(() => {})
  fixture.onClose(() => {
    isClosing = true
    return seat.service.stop('SIGKILL')
  })
  return seat
}

async function observeProgress(fixture: Fixture, shop: pg.Pool): Promise<Progress> {
  // In this order: a row leaves the outbox after its task is stored.
  const { rows } = await shop.query<Pick<Progress, 'last' | 'outbox'>>(
    `SELECT (SELECT coalesce(max(number), 0) FROM orders) AS last, (SELECT count(*)::int FROM belfry.outbox) AS outbox`,
  )
  const tasks = await fixture.sql<Pick<Progress, 'open' | 'ended' | 'attempts'>>(
    `SELECT count(*) FILTER (WHERE finished_at IS NULL)::int AS open, count(finished_at)::int AS ended,
            coalesce(sum(attempts), 0)::int AS attempts FROM tasks`,
  )
  return { last: 0, outbox: 0, open: 0, ended: 0, attempts: 0, ...rows[0], ...tasks[0] }
}

async function count(fixture: Fixture, shop: pg.Pool, effects: readonly Effect[]) {
  const { rows } = await shop.query<{ number: number }>('SELECT number FROM orders')
  const [attempts] = await fixture.sql<{ repeated: number }>('SELECT sum(attempts - 1)::int AS repeated FROM tasks')
  const stored = rows.map(({ number }) => number)
  return { stored: stored.length, repeated: attempts?.repeated ?? 0, ...countEffects(stored, effects) }
}
