import { randomBytes } from 'node:crypto'
import { Belfry, BelfryError } from '@belfry/client'
import { createEmptyDatabase, type TestDatabase } from '@belfry/test-support'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Context } from '../src/context.ts'
import { readOutboxSql } from '../src/outbox-file.ts'
import { byBatch, claimRows, recordOutcome } from '../src/relay/outbox.ts'
import { runRelay } from '../src/relay/run-relay.ts'

// Two roles as a hosting service has them: neither is a superuser or may create extensions, databases or roles.
const suffix = randomBytes(4).toString('hex')
const [owner, app] = [`outbox_owner_${suffix}`, `outbox_app_${suffix}`]

let database: TestDatabase
let admin: pg.Client
let pool: pg.Pool
let appPool: pg.Pool
let sql: string

const as = (role: string) => Object.assign(new URL(database.url), { username: role, password: role }).href

beforeAll(async () => {
  database = await createEmptyDatabase()
  sql = await readOutboxSql()
  admin = new pg.Client({ connectionString: database.url })
  await admin.connect()
  for (const role of [owner, app]) await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD '${role}'`)
  const { rows } = await admin.query<{ name: string }>('SELECT quote_ident(current_database()) AS name')
  await admin.query(`GRANT CREATE ON DATABASE ${rows[0]?.name} TO ${owner}`)
  pool = new pg.Pool({ connectionString: as(owner) })
  appPool = new pg.Pool({ connectionString: as(app), max: 2 })
})
afterAll(async () => {
  await appPool?.end()
  await pool?.end()
  await admin.query(`DROP OWNED BY ${owner}, ${app}; DROP ROLE ${owner}, ${app}`)
  await admin.end()
  await database.drop()
})

beforeEach(async () => {
  await pool.query(sql)
})
afterEach(async () => {
  await pool.query('DROP SCHEMA belfry CASCADE')
})

const callAt = async (url: string, options: object = {}, at = '2099-01-01T00:00:00Z', on = pool) => {
  const text = 'SELECT belfry.call_at($1, $2, $3, $4) AS id'
  const { rows } = await on.query<{ id: string }>(text, [url, at, '{"n":1.10}', JSON.stringify(options)])
  return rows[0]?.id ?? ''
}
const publish = async (topic: string) => (await pool.query('SELECT belfry.publish($1) AS id', [topic])).rows[0].id
const claim = async () => byBatch(await claimRows(pool)).map(batch => batch.map(({ id }) => id))
const makeDue = () => pool.query(`UPDATE belfry.outbox SET due_at = now() - interval '1 ms' WHERE due_at IS NOT NULL`)
const left = async () => (await pool.query('SELECT id FROM belfry.outbox ORDER BY position')).rows.map(({ id }) => id)
const nothing = { stored: [], rejected: [], alone: [], failure: null, waitMs: 0 }

describe('the schema', () => {
  // Everything that a database has, with owners and rights.
  const everything = async () => {
    const catalogs = [
      'namespace',
      'class',
      'proc',
      'type',
      'trigger',
      'extension',
      'event_trigger',
      'default_acl',
      'roles',
    ]
    const texts = catalogs.map(name => `SELECT '${name}' AS kind, to_jsonb(t) - 'ctid' AS row FROM pg_${name} AS t`)
    const counted = `SELECT kind, count(*), md5(string_agg(md5(volatile::text), '' ORDER BY volatile::text)) AS hash
      FROM (SELECT kind, row - 'relfrozenxid' - 'relminmxid' - 'relpages' - 'reltuples' - 'relallvisible' AS volatile
            FROM (${texts.join(' UNION ALL ')}) AS all_rows) AS stable GROUP BY kind ORDER BY kind`
    return (await admin.query(counted)).rows
  }

  it('is created by a role without privileges, and again, and its removal leaves nothing', async () => {
    await pool.query('DROP SCHEMA belfry CASCADE')
    const before = await everything()
    await pool.query(sql)
    await callAt('https://example.com/kept')
    await pool.query(sql)
    expect(await left()).toHaveLength(1)
    expect(await everything()).not.toEqual(before)
    await pool.query('DROP SCHEMA belfry CASCADE')
    expect(await everything()).toEqual(before)
    await pool.query(sql)
  })

  it('lets a role with the rights of the guide call and not read', async () => {
    await expect(callAt('https://example.com/', {}, undefined, appPool)).rejects.toThrow('permission denied')
    await pool.query(`GRANT USAGE ON SCHEMA belfry TO ${app}; GRANT INSERT, SELECT (id) ON belfry.outbox TO ${app}`)
    const id = await callAt('https://example.com/', {}, undefined, appPool)
    expect(await left()).toEqual([id])
    await expect(appPool.query('SELECT body FROM belfry.outbox')).rejects.toThrow('permission denied')
  })
})

describe('call_at and publish', () => {
  const bodies = async () => (await pool.query('SELECT kind, body::text FROM belfry.outbox ORDER BY position')).rows

  it('write the body of the request', async () => {
    await callAt('https://example.com/hooks/paid?secret=1', { queue: 'a', on_past: 'reject' })
    await pool.query(
      `SELECT belfry.call_at('http://example.com/', '2027-01-01T10:00+02', options => '{"method": "GET"}')`,
    )
    await pool.query(`SELECT belfry.publish('orders.paid', '{"order": 12345678901234567890}', '{"labels": ["a"]}')`)
    const [first, second, third] = await bodies()
    expect(JSON.parse(first.body)).toMatchObject({
      ...{ name: 'POST example.com/hooks/paid', method: 'POST', on_past: 'reject', queue: 'a', payload: { n: 1.1 } },
      url: 'https://example.com/hooks/paid?secret=1',
    })
    expect(first.body).toContain('1.10')
    const { execute_at, ...rest } = JSON.parse(second.body)
    expect(Date.parse(execute_at)).toBe(Date.parse('2027-01-01T08:00Z'))
    expect(rest).toEqual({ name: 'GET example.com/', method: 'GET', on_past: 'run', url: 'http://example.com/' })
    expect(third).toEqual({
      kind: 'event',
      body: '{"topic": "orders.paid", "labels": ["a"], "payload": {"order": 12345678901234567890}}',
    })
  })

  it('fail in the transaction for options that are no object', async () => {
    await expect(callAt('https://example.com/', [1])).rejects.toThrow('outbox_body_check')
  })

  it('are undone with their transaction', async () => {
    await pool.query(`BEGIN; SELECT belfry.call_at('https://example.com/', now()), belfry.publish('a'); ROLLBACK`)
    expect(await left()).toEqual([])
  })
})

describe('a claim', () => {
  it('takes tasks together under one key, and events alone under their ids, in the order of their calls', async () => {
    const tasks = [await callAt('https://example.com/1'), await callAt('https://example.com/2')]
    const event = await publish('orders.paid')
    const batches = byBatch(await claimRows(pool))
    expect(batches.map(rows => rows.map(({ id }) => id))).toEqual([tasks, [event]])
    expect(batches[0]?.[0].batch).not.toBe(tasks[0])
    expect(batches[1]?.[0].batch).toBe(event)
    expect(await claim()).toEqual([])
  })

  it('takes each row once among many relays', async () => {
    await pool.query(`SELECT belfry.call_at('https://example.com/' || n, now()) FROM generate_series(1, 3000) AS n`)
    const claimed = (await Promise.all(Array.from({ length: 8 }, () => claimRows(pool)))).flat()
    expect(claimed).toHaveLength(3_000)
    expect(new Set(claimed.map(({ id }) => id)).size).toBe(3_000)
  })

  it('takes no more bytes than a request may have', async () => {
    const large = `SELECT belfry.call_at('https://example.com/', now(), to_jsonb(repeat('x', 250000))) FROM generate_series(1, 30)`
    await pool.query(large)
    const counts = [(await claimRows(pool)).length, (await claimRows(pool)).length]
    expect(counts).toEqual([16, 14])
  })

  it('repeats a batch with the same rows and key after the time of its relay, for one relay', async () => {
    for (const n of [1, 2, 3]) await callAt(`https://example.com/${n}`)
    const first = await claimRows(pool)
    const later = await callAt('https://example.com/4')
    await makeDue()
    const claimed = (await Promise.all([claimRows(pool), claimRows(pool)])).flatMap(byBatch)
    expect(claimed).toHaveLength(2)
    expect(claimed).toContainEqual(first.map(row => ({ ...row, attempts: 2 })))
    expect(claimed).toContainEqual([expect.objectContaining({ id: later })])
    expect(await claim()).toEqual([])
  })

  it('takes new rows beside a request that fails for long', async () => {
    const refused = await callAt('https://example.com/refused')
    await claim()
    await makeDue()
    const next = await callAt('https://example.com/next')
    expect(await claim()).toEqual([[refused], [next]])
  })

  it('repeats the rest of a batch whose first row was deleted', async () => {
    for (const n of [1, 2, 3]) await callAt(`https://example.com/${n}`)
    const [first, ...rest] = await left()
    await claim()
    await pool.query('DELETE FROM belfry.outbox WHERE id = $1', [first])
    await makeDue()
    expect(await claim()).toEqual([rest])
  })

  it('takes the tasks with a key together, and no later ones until these are stored or rejected', async () => {
    const ids: string[] = []
    for (const key of ['a', 'b', 'a']) ids.push(await callAt('https://example.com/', { key }))
    const [batch] = byBatch(await claimRows(pool))
    if (!batch) throw new Error('Nothing was claimed.')
    expect(batch.map(({ id }) => id)).toEqual(ids)
    const [later, other] = [await callAt('https://example.com/', { key: 'a' }), await callAt('https://example.com/')]
    expect(await claim()).toEqual([[other]])
    const [a1 = '', b = '', a2 = ''] = ids
    await recordOutcome(pool, batch, { ...nothing, stored: [a1, b], rejected: [{ id: a2, error: 'no' }] })
    expect(await claim()).toEqual([[later]])
  })

  it('keeps the order of the tasks with a key among many relays', async () => {
    const total = 3_000
    const text = `SELECT belfry.call_at('https://example.com/', now(), options => jsonb_build_object('key', n % 5))
      FROM generate_series(1, ${total}) AS n`
    await pool.query(text)
    const sent: Array<{ key: number; position: number }> = []
    const relay = async () => {
      while (sent.length < total) {
        for (const batch of byBatch(await claimRows(pool))) {
          sent.push(...batch.map(({ body, position }) => ({ key: JSON.parse(body).key, position })))
          await recordOutcome(pool, batch, { ...nothing, stored: batch.map(({ id }) => id) })
        }
      }
    }
    await Promise.all(Array.from({ length: 4 }, relay))
    for (let key = 0; key < 5; key++) {
      const positions = sent.filter(row => row.key === key).map(({ position }) => position)
      expect(positions).toEqual(positions.toSorted((a, b) => a - b))
    }
    expect(new Set(sent.map(({ position }) => position)).size).toBe(total)
  })
})

describe('an outcome', () => {
  it('removes stored rows, keeps rejected ones with the reason, and sends the rest one by one', async () => {
    for (const n of [1, 2, 3, 4]) await callAt(`https://example.com/${n}`)
    const [batch] = byBatch(await claimRows(pool))
    if (!batch) throw new Error('Nothing was claimed.')
    const [stored, rejected, ...alone] = batch.map(({ id }) => id) as [string, string, ...string[]]
    await recordOutcome(pool, batch, {
      ...nothing,
      stored: [stored],
      rejected: [{ id: rejected, error: 'no' }],
      alone,
    })
    expect([await claim(), await claim()]).toEqual(alone.map(id => [[id]]))
    const { rows } = await pool.query('SELECT id, error, batch FROM belfry.outbox WHERE rejected_at IS NOT NULL')
    expect(rows).toEqual([{ id: rejected, error: 'no', batch: null }])
    await pool.query('UPDATE belfry.outbox SET rejected_at = NULL')
    expect(await claim()).toEqual([[rejected]])
  })

  it('sends the tasks with a key of a refused batch one after the other', async () => {
    const ids: string[] = []
    for (const key of ['a', 'a', 'b']) ids.push(await callAt('https://example.com/', { key }))
    const [a1 = '', a2 = '', b = ''] = ids
    const [batch] = byBatch(await claimRows(pool))
    if (!batch) throw new Error('Nothing was claimed.')
    await recordOutcome(pool, batch, { ...nothing, alone: ids })
    const [first] = byBatch(await claimRows(pool))
    if (!first) throw new Error('Nothing was claimed.')
    expect([first[0].id, await claim(), await claim()]).toEqual([a1, [[b]], []])
    await recordOutcome(pool, first, { ...nothing, stored: [a1] })
    expect(await claim()).toEqual([[a2]])
  })

  it('changes nothing of a row that another relay has claimed since, unless Belfry has stored it', async () => {
    for (const n of [1, 2, 3]) await callAt(`https://example.com/${n}`)
    const [late] = byBatch(await claimRows(pool))
    if (!late) throw new Error('Nothing was claimed.')
    await makeDue()
    await claim()
    const [first, second, third] = late.map(({ id }) => id) as [string, string, string]
    const rejected = [{ id: second, error: 'no' }]
    await recordOutcome(pool, late, { ...nothing, stored: [first], rejected, alone: [third] })
    await recordOutcome(pool, late, { ...nothing, failure: 'Belfry is away.' })
    const { rows } = await pool.query('SELECT id, batch, error, due_at > now() AS "isClaimed" FROM belfry.outbox')
    const claimed = { batch: late[0].batch, error: null, isClaimed: true }
    expect(rows).toEqual([second, third].map(id => ({ id, ...claimed })))
  })

  it('of a failure lets the batch wait, longer after each, and up to a minute', async () => {
    await callAt('https://example.com/')
    const delays: number[] = []
    for (let attempt = 1; attempt <= 8; attempt++) {
      await makeDue()
      const [batch] = byBatch(await claimRows(pool))
      if (!batch) throw new Error('Nothing was claimed.')
      await recordOutcome(pool, batch, { ...nothing, failure: 'Belfry is away.' })
      const text = 'SELECT error, extract(epoch FROM due_at - now())::float8 AS seconds FROM belfry.outbox'
      const { rows } = await pool.query(text)
      expect(rows[0].error).toBe('Belfry is away.')
      delays.push(Math.ceil(rows[0].seconds))
    }
    expect(delays).toEqual([1, 2, 4, 8, 16, 32, 60, 60])
  })

  it('of a busy Belfry lets the batch wait for as long as Belfry asks', async () => {
    await callAt('https://example.com/')
    const [batch] = byBatch(await claimRows(pool))
    if (!batch) throw new Error('Nothing was claimed.')
    await recordOutcome(pool, batch, { ...nothing, failure: 'Belfry is busy.', waitMs: 90_000 })
    const text = 'SELECT ceil(extract(epoch FROM due_at - now()))::int AS seconds FROM belfry.outbox'
    expect((await pool.query(text)).rows).toEqual([{ seconds: 90 }])
  })
})

/** Runs a relay with a Belfry that answers this, until it has ended or `stop` is aborted. */
async function relayTo(fetch: (url: string, body: string) => Promise<Response> | Response, stop: AbortController) {
  const belfry = () =>
    new Belfry({ apiKey: 'bf_key', fetch: (url, init) => fetch(String(url), String(init?.body)) as never })
  const context = { signal: stop.signal, url: () => '', belfry, stderr: { write() {} } }
  await runRelay(context as unknown as Context, as(owner))
}

it('a relay sends nothing else for as long as Belfry asks it to wait', async () => {
  for (let n = 0; n < 20; n++) await publish('orders.paid')
  const stop = new AbortController()
  const sent: number[] = []
  const answer = () => {
    sent.push(performance.now())
    if (sent.length > 8) stop.abort()
    if (sent.length > 1) return Response.json({ id: 'evt_1' }, { status: 202 })
    return Response.json({ code: 'rate_limited' }, { status: 429, headers: { 'Retry-After': '2' } })
  }
  await relayTo(answer, stop)
  const [first = 0, ...others] = sent.map(at => at - (sent[0] ?? 0))
  // Requests that were in flight with it are not counted.
  expect([first, others.filter(ms => ms > 200 && ms < 1_900)]).toEqual([0, []])
  expect(others.some(ms => ms >= 1_900)).toBe(true)
})

it('a relay has at most eight requests of 5 MB in flight of a backlog of 50,000 rows, some of which have a megabyte', async () => {
  const large = JSON.stringify({ x: randomBytes(500_000).toString('hex') })
  await pool.query(
    `SELECT belfry.call_at('https://example.com/', '2099-01-01', CASE WHEN n % 1000 = 0 THEN $1::jsonb ELSE '{"n":1}' END)
     FROM generate_series(1, 50000) AS n`,
    [large],
  )
  const stop = new AbortController()
  const seen = { rows: 0, inFlight: 0, bytes: 0, maxInFlight: 0, maxBytes: 0 }
  const answer = async (url: string, body: string) => {
    const rows = url.endsWith('/batch') ? body.split('"execute_at"').length - 1 : 1
    seen.inFlight += 1
    seen.bytes += body.length
    seen.maxInFlight = Math.max(seen.maxInFlight, seen.inFlight)
    seen.maxBytes = Math.max(seen.maxBytes, body.length)
    await new Promise(resolve => setTimeout(resolve, 50))
    seen.inFlight -= 1
    seen.rows += rows
    if (seen.rows === 50_000) stop.abort()
    return Response.json(url.endsWith('/batch') ? { data: Array(rows).fill({}) } : { id: 'task_1' })
  }
  await relayTo(answer, stop)
  expect(await left()).toEqual([])
  expect(seen.maxInFlight).toBeLessThanOrEqual(8)
  expect(seen.maxBytes).toBeLessThan(5_100_000)
  expect(seen.bytes).toBeGreaterThan(50_000_000)
}, 60_000)

it('a claim does not read the large rows that it leaves', async () => {
  const large = randomBytes(500_000).toString('hex')
  for (let n = 0; n < 20; n++) await callAt('https://example.com/', { large })
  const read = async () => {
    const text = `SELECT pg_stat_force_next_flush(), toast_blks_hit + toast_blks_read AS blocks
      FROM pg_statio_user_tables WHERE relname = 'outbox'`
    await pool.query('SELECT pg_stat_force_next_flush()')
    return Number((await pool.query(text)).rows[0].blocks)
  }
  const before = await read()
  expect((await claimRows(pool)).length).toBe(4)
  // A row of a megabyte has more than 100 blocks.
  expect((await read()) - before).toBeLessThan(10 * 130)
})

it('a relay that is stopped starts no more requests for the rows that it has claimed', async () => {
  for (let n = 0; n < 20; n++) await publish('orders.paid')
  const stop = new AbortController()
  let requests = 0
  const request = async () => {
    requests += 1
    stop.abort()
    throw new BelfryError('Belfry is away.')
  }
  const context = { signal: stop.signal, url: () => '', belfry: () => ({ request }), stderr: { write() {} } }
  await runRelay(context as unknown as Context, as(owner))
  expect(requests).toBe(1)
})
