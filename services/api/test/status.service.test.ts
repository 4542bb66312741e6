import { randomUUID } from 'node:crypto'
import { beatScheduler } from '@belfry/db/dispatchers/beat-scheduler'
import { enterDispatchers } from '@belfry/db/dispatchers/heartbeat'
import { expect, it } from 'vitest'
import { useApi } from './setup.ts'

const api = useApi({}, { isAlone: true }) // reads the heartbeats of the installation
const read = async () => (await api.call('GET', '/api/v1/scheduler/status')).body

it('says which processes have a heartbeat, within five seconds of the last one', async () => {
  const none = { live: 0, last_seen_at: null }
  expect(await read()).toEqual({ dispatchers: none, schedulers: none, queue: 'none' })
  const { id } = await enterDispatchers(api.db)
  await beatScheduler(api.db, randomUUID())
  await expect.poll(read, { timeout: 3_000 }).toMatchObject({ dispatchers: { live: 1 }, schedulers: { live: 1 } })
  await api.db.query(`UPDATE dispatchers SET seen_at = seen_at - interval '5 seconds' WHERE id = $1`, [id])
  const lost = { dispatchers: { live: 0, last_seen_at: expect.any(String) }, schedulers: { live: 1 } }
  await expect.poll(read, { timeout: 3_000 }).toMatchObject(lost)
})
