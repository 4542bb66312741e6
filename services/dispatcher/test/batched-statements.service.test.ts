import { randomUUID } from 'node:crypto'
import { expect, it, onTestFinished } from 'vitest'
import { aWorkspace } from './intake/setup-intake.ts'
import { all, claimAll, claimTask, type Stage, setupBatches, storeTasks } from './setup-batches.ts'

it('retries a batch of claims in halves when it exceeds the statement timeout', async () => {
  const stage = await setupBatches()
  const workspace = aWorkspace()
  const ids = await storeTasks(stage, workspace, 64)
  await claimAll(stage, ids.splice(0, 1))
  await slowDown(stage)
  expect(await claimAll(stage, ids)).toEqual(all('claimed', 63))
}, 30_000)

it('retries claims that need a block first in the same way', async () => {
  const stage = await setupBatches()
  const ids = [...(await storeTasks(stage, aWorkspace(), 40)), ...(await storeTasks(stage, aWorkspace(), 40))]
  await slowDown(stage)
  expect(await claimAll(stage, ids)).toEqual(all('claimed', 80))
}, 30_000)

// Each claimed row takes 10 ms, and a statement may take 200 ms.
async function slowDown({ test, pool }: Stage): Promise<void> {
  await test.pool.query(`
    CREATE FUNCTION slow_row() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.01); RETURN NEW; END $$;
    CREATE TRIGGER slow_row BEFORE UPDATE ON tasks FOR EACH ROW EXECUTE FUNCTION slow_row()`)
  onTestFinished(async () => void (await test.pool.query('DROP FUNCTION slow_row CASCADE')))
  pool.on('connect', client => void client.query('SET statement_timeout = 200')) // a failed one is replaced
  const clients = await Promise.all(Array.from({ length: 6 }, () => pool.connect()))
  for (const client of clients) {
    await client.query('SET statement_timeout = 200')
    client.release()
  }
}

it('continues to claim while the executions of one organization are used up', async () => {
  const stage = await setupBatches()
  const [usedUp, other] = [aWorkspace(), aWorkspace()]
  const ids = [...(await storeTasks(stage, usedUp, 30)), ...(await storeTasks(stage, other, 700))]
  await stage.pool.query(`UPDATE organizations SET tier = 'free' WHERE id = $1`, [usedUp])
  await stage.pool.query(
    `INSERT INTO usage (month, organization_id, executions, wanted, granted, execution_limit)
     VALUES (utc_month(now()), $1, 9990, 0, 0, 10000)`,
    [usedUp],
  )
  expect((await claimAll(stage, ids)).sort()).toEqual([...all('claimed', 710), ...all('gone', 20)])
  const more = await storeTasks(stage, usedUp, 1)
  expect(await claimTask(stage, { taskId: more[0] ?? '', token: randomUUID() })).toEqual({
    kind: 'gone',
    refusal: 'monthly_execution_limit',
  })
})
