import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '@belfry/embedded'
import { type RunningProcess, startProcess } from '@belfry/test-support/servers'
import { waitFor } from '@belfry/test-support/wait-for'
import pg from 'pg'
import { callApi } from '../../api-calls.ts'
import { repositoryRoot } from '../../repository-root.ts'
import { type Fixture, openFixture } from '../fixture/fixture.ts'
import { createRandom } from '../fixture/load.ts'
import type { Template } from '../fixture/template.ts'
import { keepLogs } from '../run-row.ts'
import { between } from '../torture/dice.ts'
import { seats } from '../torture/plan.ts'
import { keepRunning, startInstallation } from '../torture/seats.ts'
import { countEffects, type Effect, type EffectCounts, holds } from './count-effects.ts'
import { type StoreName, stores } from './stores.ts'

export type ProofOptions = { calls: number; kills: number; store: StoreName; seed: number }

/** What a run has counted. */
export type Proof = ProofOptions &
  EffectCounts & {
    /** Orders whose transaction was committed. */
    stored: number
    /** Attempts of their calls, after the first ones. */
    repeated: number
    seconds: number
  }

const maxStillMs = 5 * 60_000
const maxPerSecond = 100
const secondsPerKill = 2

/**
 * Runs an installation with a sender of orders, a relay and a receiver, kills all of their processes at random with SIGKILL, and
 * counts the effects in the receiver's store when all calls have ended.
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

  const random = createRandom(options.seed)
  let left: Array<(typeof victims)[number]> = []
  for (let i = 1; i <= options.kills; i++) {
    await sleep(between(random, 0, 2_000 * secondsPerKill))
    // Each of them once before the first one again.
    if (left.length === 0) left = [...victims]
    const [name = victims[0]] = left.splice(Math.floor(random() * left.length), 1)
    onKill(`kill ${i} of ${options.kills}: ${name}`)
    await kill(name)
  }
  await untilDone(fixture, shop.pool, options.calls).catch(() => {}) // then orders are lost
  return count(fixture, shop.pool, await stores[options.store].effects(store.url))
}

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

async function startPrograms(
  fixture: Fixture,
  shopUrl: string,
  storeUrl: string,
  { calls, kills, store }: ProofOptions,
) {
  const [caller = {}] = fixture.callers
  const port = String(await freePort())
  const { body } = await callApi(fixture.url, caller, 'GET', '/api/v1/workspaces/current/signing-secrets')
  const seconds = Math.max(kills * secondsPerKill, calls / maxPerSecond)
  return {
    receiver: keep(fixture, ['e2e/dist/once-receiver.mjs'], {
      ...{ PORT: port, SIGNING_SECRET: body.data[0].secret, STORE: store, STORE_URL: storeUrl },
    }),
    relay: keep(fixture, ['programs/cli/dist/main.mjs', 'relay', '--from', shopUrl], {
      ...{ BELFRY_URL: fixture.url, BELFRY_API_KEY: caller.apiKey ?? '', HOME: fixture.folder },
    }),
    sender: keep(fixture, ['e2e/dist/once-sender.mjs'], {
      ...{ SHOP_URL: shopUrl, TARGET_URL: `http://127.0.0.1:${port}/`, ORDERS: String(calls) },
      PER_SECOND: String(calls / seconds),
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

// Waits until the sender has finished, the relay has sent all rows, and all tasks have ended. Rejects when nothing changes.
async function untilDone(fixture: Fixture, shop: pg.Pool, calls: number): Promise<void> {
  const observe = async () => {
    await sleep(500) // it counts all rows
    const { rows } = await shop.query<{ last: number; outbox: number }>(
      'SELECT (SELECT max(number) FROM orders) AS last, (SELECT count(*)::int FROM belfry.outbox) AS outbox',
    )
    const open = await fixture.count(`tasks WHERE state IN ('pending', 'processing', 'retrying')`)
    return { last: 0, outbox: 0, ...rows[0], open }
  }
  const toText = ({ last, outbox, open }: Awaited<ReturnType<typeof observe>>) => `${last} ${outbox} ${open}`
  let seen = await observe()
  while (toText(seen) !== `${calls} 0 0`) {
    const before = toText(seen)
    seen = await waitFor(observe, now => toText(now) !== before, maxStillMs)
  }
}

async function count(fixture: Fixture, shop: pg.Pool, effects: readonly Effect[]) {
  const { rows } = await shop.query<{ number: number }>('SELECT number FROM orders')
  const [attempts] = await fixture.sql<{ repeated: number }>('SELECT sum(attempts - 1)::int AS repeated FROM tasks')
  const stored = rows.map(({ number }) => number)
  return { stored: stored.length, repeated: attempts?.repeated ?? 0, ...countEffects(stored, effects) }
}
