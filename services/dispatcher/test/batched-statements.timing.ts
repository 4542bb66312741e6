import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { aWorkspace } from './intake/setup-intake.ts'
import { all, claimAll, claimTask, setupBatches, storeTasks } from './setup-batches.ts'

it.each([
  ['usage', 'that needs a first block', false],
  ['usage', 'that has a block', true],
  ['execution_blocks', 'that has a block', true],
  ['organizations', 'that needs a first block', false],
])(
  'a lock on the row in %s of an organization %s delays no other organization',
  async (table, _has, hasBlock) => {
    const stage = await setupBatches()
    const [locked, other, third] = [aWorkspace(), aWorkspace(), aWorkspace()]
    const lockedIds = await storeTasks(stage, locked, 20)
    const otherIds = await storeTasks(stage, other, 20)
    const thirdIds = await storeTasks(stage, third, 20)
    if (hasBlock) await claimAll(stage, lockedIds.splice(0, 1))
    else if (table === 'usage')
      await stage.pool.query(
        `INSERT INTO usage (month, organization_id, executions, wanted, granted, execution_limit)
       VALUES (utc_month(now()), $1, 0, 0, 0, 1)`,
        [locked],
      )
    const holder = await stage.test.pool.connect()
    await holder.query('BEGIN')
    const key = table === 'organizations' ? 'id' : 'organization_id'
    await holder.query(`SELECT FROM ${table} WHERE ${key} = $1 FOR UPDATE`, [locked])
    let settled = 0
    const held = Promise.all(
      lockedIds.map(async taskId => {
        const { kind } = await claimTask(stage, { taskId, token: randomUUID() })
        settled++
        return kind
      }),
    )
    const begun = performance.now()
    expect(await claimAll(stage, otherIds)).toEqual(all('claimed', 20))
    expect(performance.now() - begun).toBeLessThan(900) // less than the lock timeout of the pool
    const hasWaited = () => stage.pool.query(`SELECT pg_sleep(1.5)`)
    await hasWaited()
    const again = performance.now()
    expect(await claimAll(stage, thirdIds)).toEqual(all('claimed', 20))
    expect(performance.now() - again).toBeLessThan(900)
    if (!(table === 'usage' && hasBlock)) expect(settled).toBe(0)
    await holder.query('ROLLBACK')
    holder.release()
    expect(await held).toEqual(all('claimed', lockedIds.length))
  },
  30_000,
)
