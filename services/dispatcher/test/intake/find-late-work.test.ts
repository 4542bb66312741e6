import { fromId } from '@belfry/domain'
import { createLogger } from '@belfry/runtime'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createBacklog } from '../../src/intake/backlog.ts'
import { findLateWork } from '../../src/intake/find-late-work.ts'
import { createHand, type TaskInHand } from '../../src/intake/hand.ts'
import { createLines } from '../../src/intake/lines.ts'
import { aWorkspace, type IntakeTest, setupIntake } from './setup-intake.ts'

let test: IntakeTest
beforeEach(async () => {
  test = await setupIntake('postgres', 0)
})
afterEach(() => test?.close())

async function setup(workspace: string, { inHand }: { inHand: number }) {
  const { pool, queue } = test
  const lines = createLines<TaskInHand>({ slots: 200, placesPerHost: 200, now: () => performance.now() })
  const ctx = { pool, queue, lines, hand: createHand(), backlog: createBacklog(), log: createLogger('x', 'silent') }
  const url = 'http://127.0.0.1:9/'
  for (const { id, dueAt, origin = '' } of await test.store({ count: 300, workspace, url, dueInMs: -10_000 })) {
    const task = { id: fromId('task', id) ?? '', workspace, dueAt, origin, host: origin }
    if (ctx.hand.size < inHand) ctx.hand.take(task)
  }
  const toRead = () => ctx.backlog.next(() => true, 10, Date.now()).map(reading => reading.workspace)
  return { ctx, toRead }
}

it('has the tasks of a workspace read that are late, and of which few are in hand', async () => {
  const workspace = aWorkspace()
  const { ctx, toRead } = await setup(workspace, { inHand: 20 })
  expect(await findLateWork(ctx, false)).toBe(1)
  expect(toRead()).toEqual([workspace])
})

it('does not read again and again what is in hand and late, but now and then', async () => {
  const workspace = aWorkspace()
  const { ctx, toRead } = await setup(workspace, { inHand: 200 })
  expect(await findLateWork(ctx, false)).toBe(1)
  expect(toRead()).toEqual([])
  expect(await findLateWork(ctx, true)).toBe(1)
  expect(toRead()).toEqual([workspace])
})
