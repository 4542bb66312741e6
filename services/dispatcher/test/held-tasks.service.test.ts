import { fromId } from '@belfry/domain/id'
import { startReceiver } from '@belfry/test-support'
import { expect, it, onTestFinished } from 'vitest'
import { aWorkspace, lagsOf, setupIntake } from './intake/setup-intake.ts'

it('records all other attempts while another transaction holds some tasks, and then those', async () => {
  const target = await startReceiver()
  const test = await setupIntake('postgres', 0)
  onTestFinished(async () => {
    await target.close()
    await test.close()
  })
  let lock = () => {}
  const locked = new Promise<void>(resolve => {
    lock = resolve
  })
  for (const path of ['/held', '/beside']) target.answer(path, { after: locked })
  const workspace = aWorkspace()
  const held = await test.store({ count: 3, workspace, url: target.url('/held'), dueInMs: 300 })
  const beside = await test.store({ count: 20, workspace, url: target.url('/beside'), dueInMs: 300 })
  const after = await test.store({ count: 40, workspace, url: target.url('/'), dueInMs: 1_500 })
  const others = [...beside, ...after]
  await test.schedule([...held, ...others])
  await test.start({ HOST_CONCURRENCY: '64' })
  await target.waitFor(held.length + beside.length, 10_000)
  const holder = await test.pool.connect()
  await holder.query('BEGIN')
  const ids = held.map(({ id }) => fromId('task', id))
  const { rows } = await holder.query('SELECT state FROM tasks WHERE id = ANY ($1) FOR UPDATE', [ids])
  expect(rows).toEqual(held.map(() => ({ state: 'processing' })))
  lock()
  const recorded = async () => (await lagsOf(test.pool, workspace)).length
  await expect.poll(recorded, { timeout: 12_000 }).toBe(others.length)
  await holder.query('ROLLBACK')
  holder.release()
  await expect.poll(recorded, { timeout: 12_000 }).toBe(others.length + held.length)
  expect(target.requestsTo('/held')).toHaveLength(held.length)
}, 60_000)
