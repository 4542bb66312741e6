import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { BelfryError } from '@belfry/client'
import pg from 'pg'
import type { Context } from '../context.ts'
import { UsageError } from '../usage-error.ts'
import { type Batch, byBatch, claimRows, maxRows, recordOutcome } from './outbox.ts'
import { sendRows } from './send-rows.ts'

const maxRequests = 8
/**
 * With this many requests in flight, new rows wait for the end of one of them, so several commits share a request. Otherwise each
 * of 200 commits a second would cost a claim, a request and a removal.
 */
const busyRequests = 2
const maxGatherMs = 10
/** How long a row waits at most whose notification did not arrive, or whose request has to be repeated. */
const pollMs = 1_000
/** How long the relay waits after a failure of Belfry or of the database, unless Belfry asks for longer. */
const pauseMs = 1_000

/** Moves the rows of an outbox to Belfry until the signal. Requests in flight are finished. */
export async function runRelay(ctx: Context, databaseUrl: string): Promise<void> {
  const { signal } = ctx
  const belfry = ctx.belfry()
  // A connection to a machine that is gone must not block the relay.
  const timeouts = { connectionTimeoutMillis: 10_000, query_timeout: 30_000, keepAlive: true }
  const config = { connectionString: databaseUrl, application_name: 'belfry relay', ...timeouts }
  const pool = new pg.Pool({ ...config, max: maxRequests })
  pool.on('error', () => {}) // the pool replaces an idle connection that broke
  const report = createReport(ctx)
  const moves = new Set<Promise<void>>()
  let pauseUntil = 0

  async function move(batch: Batch): Promise<void> {
    try {
      const outcome = await sendRows(belfry, batch)
      await recordOutcome(pool, batch, outcome)
      for (const { id, error } of outcome.rejected) report(`${id} was rejected: ${error}`)
      report(outcome.failure)
      if (outcome.failure !== null) pauseFor(Math.max(pauseMs, outcome.waitMs))
    } catch (error) {
      fail(error)
    }
  }

  /** Starts the requests for rows that wait. Returns whether more rows may wait. */
  async function moveWaiting(): Promise<boolean> {
    await pause()
    const rows = await claimRows(pool)
    for (const batch of byBatch(rows)) {
      await pause()
      if (signal.aborted) break // another relay sends the rest after its lease
      const moving = move(batch).finally(() => {
        moves.delete(moving)
        ring() // for tasks with a key of the batch
      })
      moves.add(moving)
      if (moves.size >= maxRequests) await Promise.race(moves)
    }
    return rows.length >= maxRows
  }

  function fail(error: unknown): false {
    report(unavailable(error).message)
    pauseFor(pauseMs)
    return false
  }

  function pauseFor(ms: number): void {
    pauseUntil = Math.max(pauseUntil, performance.now() + ms)
  }

  async function pause(): Promise<void> {
    while (!signal.aborted && pauseUntil > performance.now()) await wait(signal, pauseUntil - performance.now())
  }

  let wake = () => {}
  const ring = () => wake()
  const polling = setInterval(ring, pollMs)
  signal.addEventListener('abort', ring)
  try {
    await requireOutbox(pool)
    ctx.stderr.write(`Relaying to ${ctx.url()} (Ctrl-C to stop)\n`)
    const listening = listen(config, ring, signal)
    while (!signal.aborted) {
      // Before the look, because a commit may follow it at once.
      const rung = new Promise<void>(resolve => {
        wake = resolve
      })
      const hasMore = await moveWaiting().catch(fail)
      if (hasMore || pauseUntil > performance.now()) continue
      await rung
      if (moves.size >= busyRequests) await Promise.race([...moves, wait(signal, maxGatherMs)])
    }
    await Promise.all([listening, ...moves])
  } finally {
    clearInterval(polling)
    await pool.end()
  }
}

/** Creates the outbox, or brings it up to date. */
export async function installOutbox(databaseUrl: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  try {
    await client.connect()
    await client.query(sql)
  } catch (error) {
    throw unavailable(error)
  } finally {
    await client.end()
  }
}

// Without notifications, such as behind a pooler of transactions, the relay polls.
async function listen(config: pg.ClientConfig, ring: () => void, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const client = new pg.Client(config)
    client.on('notification', ring)
    client.on('error', () => {}) // the connection ends, too
    try {
      await client.connect()
      await client.query('LISTEN belfry_outbox')
      await once(client, 'end', { signal })
    } catch {
      // The claims report a database that is away.
    } finally {
      await client.end().catch(() => {})
    }
    await wait(signal, pauseMs)
  }
}

async function requireOutbox(pool: pg.Pool): Promise<void> {
  const text = `SELECT to_regclass('belfry.outbox') IS NOT NULL AS is`
  const { rows } = await pool.query<{ is: boolean }>(text).catch(error => {
    throw unavailable(error)
  })
  if (!rows[0]?.is) throw new UsageError('The database has no outbox. Create it with: belfry outbox install --to <url>')
}

// An error for several addresses has only a code, not a message.
function unavailable(error: unknown): BelfryError {
  const { message, code } = Object(error) as { message?: string; code?: string }
  return new BelfryError(`The outbox is unavailable: ${message || code}`)
}

// A failure that lasts is reported once.
function createReport({ stderr }: Context) {
  let last: string | null = null
  return (message: string | null) => {
    if (message !== null && message !== last) stderr.write(`${message}\n`)
    last = message
  }
}

function wait(signal: AbortSignal, ms: number): Promise<void> {
  return sleep(ms, undefined, { signal }).catch(() => {})
}
