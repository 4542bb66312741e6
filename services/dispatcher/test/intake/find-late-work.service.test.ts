import { fromId } from '@belfry/domain/id'
import { createLogger } from '@belfry/runtime'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createBacklog } from '../../src/intake/backlog.ts'
import { openFindLateWork } from '../../src/intake/find-late-work.ts'
import { type BufferedTask, createTaskBuffer } from '../../src/intake/task-buffer.ts'
import { createHostQueues } from '../../src/scheduling/host-queues.ts'
import { aWorkspace, type IntakeTest, setupIntake } from './setup-intake.ts'

let test: IntakeTest
beforeEach(async () => {
  test = await setupIntake('postgres', 0)
})
afterEach(() => test?.close())

async function setup(workspace: string, { buffered }: { buffered: number }) {
  const { pool } = test
  const now = () => performance.now()
  const hostQueues = createHostQueues<BufferedTask>({ slots: 200, permitsPerHost: 200, now })
  const log = createLogger('x', 'silent')
  const ctx = { pool, hostQueues, buffer: createTaskBuffer(), backlog: createBacklog(), log }
  const url = 'http://127.0.0.1:9/'
  for (const { id, dueAt, origin = '' } of await test.store({ count: 300, workspace, url, dueInMs: -10_000 })) {
    const task = { id: fromId('task', id) ?? '', workspace, dueAt, origin, host: origin }
    if (ctx.buffer.size < buffered) ctx.buffer.add(task)
  }
  const toRead = () => ctx.backlog.next(() => true, 10, Date.now()).map(reading => reading.workspace)
  return { ctx, toRead, findLateWork: openFindLateWork(ctx) }
}

it('reads a workspace with late tasks of which few are buffered', async () => {
  const workspace = aWorkspace()
  const { toRead, findLateWork } = await setup(workspace, { buffered: 20 })
  expect(await findLateWork(false)).toBe(1)
  expect(toRead()).toEqual([workspace])
})

it('reads a workspace whose late tasks are buffered in thorough rounds only', async () => {
  const workspace = aWorkspace()
  const { toRead, findLateWork } = await setup(workspace, { buffered: 200 })
  expect(await findLateWork(false)).toBe(1)
  expect(toRead()).toEqual([])
  expect(await findLateWork(true)).toBe(1)
  expect(toRead()).toEqual([workspace])
})

it('reads a whole workspace when its oldest late task is the same in two thorough rounds', async () => {
  const workspace = aWorkspace()
  const { ctx, findLateWork } = await setup(workspace, { buffered: 0 })
  const isWhole = () => ctx.backlog.next(() => true, 10, Date.now()).map(reading => reading.isWhole)
  await findLateWork(true)
  for (let i = 0; i < 3; i++) await findLateWork(false)
  expect(isWhole()).toEqual([false])
  await findLateWork(true)
  expect(isWhole()).toEqual([true])
})

it('reads a whole workspace beside 15,000 others and a backlog, of which a round checks a third', async () => {
  const { ctx, findLateWork } = await setup(aWorkspace(), { buffered: 0 })
  const { pool } = test
  await test.store({ count: 1_000, workspace: aWorkspace(), url: 'http://127.0.0.1:9/', dueInMs: -20_000 })
  await pool.query(`
    INSERT INTO workspaces (id, organization_id, name)
    SELECT gen_random_uuid(), (SELECT id FROM organizations LIMIT 1), 'A' FROM generate_series(1, 14997)`)
  const text =
    'SELECT id FROM workspaces WHERE id NOT IN (SELECT workspace_id FROM tasks) ORDER BY id OFFSET 7000 LIMIT 1'
  const workspace: string = (await pool.query(text)).rows[0].id
  await test.store({ count: 1, workspace, url: 'http://127.0.0.1:9/', dueInMs: -10_000 })
  const whole = new Set<string>()
  for (let thorough = 0; thorough < 6; thorough++) {
    await findLateWork(true)
    for (const reading of ctx.backlog.next(() => true, 10, Date.now()))
      if (reading.isWhole) whole.add(reading.workspace)
    for (let i = 0; i < 5; i++) await findLateWork(false)
  }
  expect(whole).toContain(workspace)
})
