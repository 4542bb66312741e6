import { fromId } from '@belfry/domain'
import { createLogger } from '@belfry/runtime'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createBacklog } from '../../src/intake/backlog.ts'
import { openFindLateWork } from '../../src/intake/find-late-work.ts'
import { createHand, type TaskInHand } from '../../src/intake/hand.ts'
import { createLines } from '../../src/intake/lines.ts'
import { aWorkspace, type IntakeTest, setupIntake } from './setup-intake.ts'

let test: IntakeTest
beforeEach(async () => {
  test = await setupIntake('postgres', 0)
})
afterEach(() => test?.close())

async function setup(workspace: string, { inHand }: { inHand: number }) {
  const { pool } = test
  const lines = createLines<TaskInHand>({ slots: 200, placesPerHost: 200, now: () => performance.now() })
  const ctx = { pool, lines, hand: createHand(), backlog: createBacklog(), log: createLogger('x', 'silent') }
  const url = 'http://127.0.0.1:9/'
  for (const { id, dueAt, origin = '' } of await test.store({ count: 300, workspace, url, dueInMs: -10_000 })) {
    const task = { id: fromId('task', id) ?? '', workspace, dueAt, origin, host: origin }
    if (ctx.hand.size < inHand) ctx.hand.take(task)
  }
  const toRead = () => ctx.backlog.next(() => true, 10, Date.now()).map(reading => reading.workspace)
  return { ctx, toRead, findLateWork: openFindLateWork(ctx) }
}

it('has the tasks of a workspace read that are late, and of which few are in hand', async () => {
  const workspace = aWorkspace()
  const { toRead, findLateWork } = await setup(workspace, { inHand: 20 })
  expect(await findLateWork(false)).toBe(1)
  expect(toRead()).toEqual([workspace])
})

it('does not read again and again what is in hand and late, but now and then', async () => {
  const workspace = aWorkspace()
  const { toRead, findLateWork } = await setup(workspace, { inHand: 200 })
  expect(await findLateWork(false)).toBe(1)
  expect(toRead()).toEqual([])
  expect(await findLateWork(true)).toBe(1)
  expect(toRead()).toEqual([workspace])
})

it('reads a workspace whole whose oldest task stays the same from one thorough round to the next', async () => {
  const workspace = aWorkspace()
  const { ctx, findLateWork } = await setup(workspace, { inHand: 0 })
  const isWhole = () => ctx.backlog.next(() => true, 10, Date.now()).map(reading => reading.isWhole)
  await findLateWork(true)
  for (let i = 0; i < 3; i++) await findLateWork(false)
  expect(isWhole()).toEqual([false])
  await findLateWork(true)
  expect(isWhole()).toEqual([true])
})
