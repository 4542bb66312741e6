import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import pLimit from 'p-limit'
import pg from 'pg'
import type { Context } from '../context.ts'
import { UsageError } from '../usage-error.ts'
import { type Batch, byBatch, claimRows, maxRows, recordOutcome } from './outbox.ts'
import { sendRows } from './send-rows.ts'

const workers = 4
const maxRequests = 16
/** Notifications come at once. A row without one waits at most this long: its request is repeated, or a connection broke. */
const pollMs = 1_000
const pauseMs = 1_000

/** Moves the rows of an outbox to Belfry until the signal. Requests in flight are finished. */
export async function runRelay(ctx: Context, databaseUrl: string): Promise<void> {
  const { signal } = ctx
  const belfry = ctx.belfry()
  // A connection to a machine that is gone must not block a worker.
  const timeouts = { connectionTimeoutMillis: 10_000, query_timeout: 30_000, keepAlive: true }
  const config = { connectionString: databaseUrl, application_name: 'belfry relay', ...timeouts }
  const pool = new pg.Pool({ ...config, max: 2 * workers })
  pool.on('error', () => {}) // the pool replaces an idle connection that broke
  const limit = pLimit(maxRequests)
  const bell = createBell(signal)
  const report = createReport(ctx)

  async function work(): Promise<void> {
    while (!signal.aborted) {
      const heard = bell.count()
      try {
        const rows = await claimRows(pool)
        if (rows.length === maxRows) bell.ring() // there may be more
        if (rows.length === 0) await bell.wait(heard)
        const areAnswered = await Promise.all(byBatch(rows).map(batch => limit(move, batch)))
        if (areAnswered.includes(false)) await pause(signal)
      } catch (error) {
        report(`The outbox is unavailable: ${error instanceof Error ? error.message : error}`)
        await pause(signal)
      }
    }
  }

  /** Sends a batch. Returns whether Belfry has answered it. */
  async function move(batch: Batch): Promise<boolean> {
    const outcome = await sendRows(belfry, batch)
    await recordOutcome(pool, batch, outcome)
    for (const { id, error } of outcome.rejected) report(`${id} was rejected: ${error}`)
    report(outcome.failure)
    return outcome.failure === null
  }

  try {
    await requireOutbox(pool)
    ctx.stderr.write(`Relaying to ${ctx.url()} (Ctrl-C to stop)\n`)
    await Promise.all([listen(config, bell.ring, signal), ...Array.from({ length: workers }, work)])
  } finally {
    await pool.end()
  }
}

/** Creates the outbox, or brings it up to date. */
export async function installOutbox(databaseUrl: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}

// A commit wakes one worker. All of them would ask for the same rows.
function createBell(signal: AbortSignal) {
  let count = 0
  const waiting: Array<() => void> = []
  return {
    count: () => count,
    ring() {
      count += 1
      waiting.shift()?.()
    },
    /** Waits for a ring after the count `heard`, the next poll, or the signal. */
    async wait(heard: number): Promise<void> {
      if (count !== heard) return
      const woken = new AbortController()
      const wake = () => woken.abort()
      waiting.push(wake)
      await sleep(pollMs, null, { signal: AbortSignal.any([signal, woken.signal]) }).catch(() => {})
      if (waiting.includes(wake)) waiting.splice(waiting.indexOf(wake), 1)
    },
  }
}

// Without notifications, such as behind a pooler of transactions, the workers poll.
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
      // The workers report a database that is away.
    } finally {
      await client.end().catch(() => {})
    }
    await pause(signal)
  }
}

async function requireOutbox(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<{ is: boolean }>(`SELECT to_regclass('belfry.outbox') IS NOT NULL AS is`)
  if (!rows[0]?.is) throw new UsageError('The database has no outbox. Create it with: belfry outbox install --to <url>')
}

// A failure that lasts is reported once.
function createReport({ stderr }: Context) {
  let last: string | null = null
  return (message: string | null) => {
    if (message !== null && message !== last) stderr.write(`${message}\n`)
    last = message
  }
}

function pause(signal: AbortSignal): Promise<void> {
  return sleep(pauseMs, undefined, { signal }).catch(() => {})
}
