import { setTimeout as sleep } from 'node:timers/promises'
import { newUuid } from '@belfry/domain/id'
import { startAwakeTime } from '@belfry/test-support/awake-time'
import { expect, it, onTestFinished } from 'vitest'
import { addToOutbox } from '../src/outbox/outbox.ts'
import { inTransaction } from '../src/postgres/in-transaction.ts'
import { type Listener, listen } from '../src/postgres/listen.ts'
import { dueTaskChannel, outboxChannel, parseDueNotice } from '../src/postgres/notices.ts'
import { insertTasks } from '../src/tasks/insert-tasks.ts'
import { aTask, useDatabase } from './setup.ts'

const db = useDatabase()
const databaseUrl = () => String(db.pool.options.connectionString)

/** Listens, and collects the notifications. */
async function hear(channels: string[] = [dueTaskChannel, outboxChannel]) {
  const heard: Array<{ channel: string; payload: string }> = []
  let connections = 0
  const listener: Listener = {
    onNotification: (channel, payload) => void heard.push({ channel, payload }),
    onConnect: () => void connections++,
    onError: () => {},
  }
  const listening = listen(databaseUrl(), channels, listener)
  onTestFinished(() => listening.close())
  const due = () => heard.filter(({ channel }) => channel === dueTaskChannel).map(one => parseDueNotice(one.payload))
  await expect.poll(() => connections).toBe(1)
  return { heard, due, connections: () => connections }
}

const change = (set: string, id: string) => db.pool.query(`UPDATE tasks SET ${set} WHERE id = $1`, [id])

it('notifies of a task that is due now, with all that a dispatcher needs', async () => {
  const { due } = await hear()
  const task = { ...aTask(), executeAt: null, url: 'https://user.example:8443/path?a=b' }
  await insertTasks(db.pool, [task])
  await expect.poll(due).toHaveLength(1)
  const { id, workspaceId } = task
  expect(due()[0]).toEqual({
    id,
    workspaceId,
    origin: 'https://user.example:8443',
    isQueued: false,
    dueAt: expect.any(Number),
  })
  expect(Math.abs((due()[0]?.dueAt ?? 0) - Date.now())).toBeLessThan(5_000)
})

it('notifies of a task that a change makes due within 15 seconds, and of no other', async () => {
  const { due } = await hear()
  const [retried, moved, cancelled, quarantined, far] = Array.from({ length: 5 }, () => ({
    ...aTask(),
    executeAt: new Date(Date.now() + 3_600_000),
  }))
  const all = [retried, moved, cancelled, quarantined, far].map(task => task ?? aTask())
  await insertTasks(db.pool, all)
  const [a, b, c, d, e] = all.map(({ id }) => id) as [string, string, string, string, string]
  await change(`state = 'retrying', due_at = now() + interval '5 seconds'`, a)
  await change(`due_at = now() + interval '14 seconds'`, b)
  await change(`state = 'cancelled', due_at = now(), finished_at = now()`, c)
  await change(`quarantined = true, due_at = now() - interval '1 ms'`, d)
  await change(`due_at = now() + interval '20 seconds'`, e)
  await change(`quarantined = false`, d)
  await expect.poll(due).toHaveLength(3)
  await sleep(100)
  expect(due().map(notice => notice?.id)).toEqual([a, b, d])
})

it('notifies of every task of a large insert', async () => {
  const { due } = await hear()
  const tasks = Array.from({ length: 1_000 }, () => ({ ...aTask(), executeAt: null }))
  await insertTasks(db.pool, tasks)
  await expect.poll(due, { timeout: 5_000 }).toHaveLength(1_000)
  expect(new Set(due().map(notice => notice?.id))).toEqual(new Set(tasks.map(({ id }) => id)))
})

it('notifies of a message', async () => {
  const { heard } = await hear()
  const message = { id: newUuid(), kind: 'mail', label: 'a', content: '{}', masterKeys: null } as const
  await inTransaction(db.pool, tx => addToOutbox(tx, message))
  await expect.poll(() => heard.map(({ channel }) => channel)).toEqual([outboxChannel])
})

it('rejects other payloads', () => {
  expect(parseDueNotice('')).toBeNull()
  expect(parseDueNotice('soon a b https://c')).toBeNull()
  expect(parseDueNotice('5 a b')).toEqual({ dueAt: 5, id: 'a', workspaceId: 'b', origin: null, isQueued: false })
  expect(parseDueNotice('5 a b https://c queue')).toMatchObject({ origin: 'https://c', isQueued: true })
})

it('listens again after its connection was lost, and reports the new connection', async () => {
  const { heard, connections } = await hear(['a_channel'])
  const end = `
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE query LIKE 'LISTEN "a_channel"%' AND datname = current_database()`
  expect((await db.pool.query(end)).rowCount).toBeGreaterThan(0)
  await expect.poll(connections, { timeout: 5_000 }).toBe(2)
  await db.pool.query(`NOTIFY a_channel, 'again'`)
  await expect.poll(() => heard).toEqual([{ channel: 'a_channel', payload: 'again' }])
})

it('keeps trying while PostgreSQL is away, and closes at once', async () => {
  const errors: unknown[] = []
  const away = new URL(databaseUrl())
  away.port = '1'
  const listening = listen(away.href, ['a_channel'], {
    onNotification: () => {},
    onConnect: () => {},
    onError: error => void errors.push(error),
  })
  await expect.poll(() => errors.length, { timeout: 5_000 }).toBeGreaterThan(2)
  const awakeMs = startAwakeTime()
  await listening.close()
  expect(awakeMs()).toBeLessThan(500)
})
