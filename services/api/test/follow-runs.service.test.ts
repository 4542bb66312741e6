import { randomUUID } from 'node:crypto'
import { firstUuidAt, newUuid, timeOfUuid } from '@belfry/domain/id'
import { expect, it, vi } from 'vitest'
import { followRuns, runsAfter } from '../src/runs/stream/follow-runs.ts'
import { storeRuns } from './run-rows.ts'
import { useApi } from './setup.ts'

const api = useApi()
const moreThanRead = 20_100

it('shows a long call among more new runs than are read, and counts most of the omitted runs', async () => {
  const workspaceId = randomUUID()
  const longRun = newUuid(Date.now() - 120_000)
  await api.db.query(
    `INSERT INTO tasks (id, workspace_id, source, state, attempts, execute_at, due_at, run_id, lease_until)
     VALUES (uuid_v7(clock_timestamp()), $1, 'task', 'processing', 1, now(), now(), $2, now() + interval '1 hour')`,
    [workspaceId, longRun],
  )
  const followed = followRuns(api.db)
  const look = async () => (await followed([randomUUID(), workspaceId])).get(workspaceId)
  expect(await look()).toMatchObject({ runs: [], omitted: 0, upTo: firstUuidAt(timeOfUuid(longRun)) })
  const startedAt = new Date(Date.now() + 500)
  const [ended] = await storeRuns(
    api.db,
    Array.from({ length: moreThanRead }, () => ({ workspaceId, startedAt })),
  )
  await api.db.query('UPDATE runs SET id = $1 WHERE id = $2', [longRun, ended?.id])
  await api.db.query(`UPDATE tasks SET state = 'success', lease_until = NULL WHERE run_id = $1`, [longRun])
  const { runs = [], omitted } = (await look()) ?? {}
  expect(runs).toHaveLength(200)
  expect(runs[0]?.id).toBe(longRun)
  expect(omitted).toBeGreaterThanOrEqual(20_000 - 200)
  expect(omitted).toBeLessThanOrEqual(moreThanRead - 200)
  const next = await look()
  expect(next).toMatchObject({ runs: [] })
  expect(await runsAfter(api.db, workspaceId, longRun)).toMatchObject({ omitted: 20_000 - 200 })
})

it('reads any number of workspaces with three statements', async () => {
  const workspaces = Array.from({ length: 300 }, () => randomUUID())
  const look = followRuns(api.db)
  await look(workspaces)
  const startedAt = new Date(Date.now() + 500)
  await storeRuns(
    api.db,
    workspaces.map(workspaceId => ({ workspaceId, startedAt })),
  )
  const query = vi.spyOn(api.db, 'query')
  const news = await look(workspaces)
  expect(query).toHaveBeenCalledTimes(3)
  query.mockRestore()
  expect(workspaces.map(workspaceId => news.get(workspaceId)?.runs.length)).toEqual(Array(300).fill(1))
  expect([...(await look(workspaces)).values()].flatMap(({ runs }) => runs)).toEqual([])
})
