import { QueryClient } from '@tanstack/react-query'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { call, read } from './call.ts'
import { effects, reloadChanged, resourceOf } from './effects.ts'
import table from './generated/operations.json' with { type: 'json' }
import { allOf, pagesOf, queryOf } from './queries.ts'

// Other tests of the process have changed resources.
beforeEach(() => reloadChanged(new QueryClient()))
afterEach(() => vi.unstubAllGlobals())

const ws = 'ws_1'
const queries = {
  cronJob: queryOf('getCronJob', { ws, cronjob: 'cron_1' }).queryKey,
  cronJobs: pagesOf('listCronJobs', { ws }).queryKey,
  preview: queryOf('previewCronJob', { ws, body: { cron: '* * * * *' } }).queryKey,
  tasks: pagesOf('listTasks', { ws, query: { state: 'dead' } }).queryKey,
  status: queryOf('getStatus', { ws }).queryKey,
  keys: pagesOf('listApiKeys', { ws }).queryKey,
  members: allOf('listWorkspaceMembers', { ws }).queryKey,
  me: queryOf('getMe').queryKey,
}

function clientWithData(): QueryClient {
  const client = new QueryClient()
  for (const queryKey of Object.values<readonly unknown[]>(queries)) client.setQueryData(queryKey, {})
  return client
}

const invalidIn = (client: QueryClient) =>
  Object.entries<readonly unknown[]>(queries)
    .filter(([, queryKey]) => client.getQueryState(queryKey)?.isInvalidated)
    .map(([name]) => name)

it('a change invalidates the reads of its resource and of those that it affects, once, also when it fails', async () => {
  vi.stubGlobal('fetch', async () => Response.json({}))
  const client = clientWithData()
  await reloadChanged(client)
  expect(invalidIn(client)).toEqual([])
  await call('pauseCronJob', { ws, cronjob: 'cron_1' })
  await reloadChanged(client)
  expect(invalidIn(client)).toEqual(['cronJob', 'cronJobs', 'tasks'])
  const replayed = clientWithData()
  await call('replayDeadLetters', { ws, body: { filter: {} } })
  await reloadChanged(replayed)
  expect(invalidIn(replayed)).toEqual(['tasks', 'status'])
  vi.stubGlobal('fetch', async () => Response.json({}, { status: 409 }))
  await expect(call('removeWorkspaceMember', { ws, user: 'user_1' })).rejects.toThrow()
  const other = clientWithData()
  await reloadChanged(other)
  expect(invalidIn(other)).toEqual(['members', 'me'])
})

it('a read invalidates nothing', async () => {
  vi.stubGlobal('fetch', async () => Response.json({}))
  const client = clientWithData()
  await read('previewCronJob', { ws, body: { cron: '* * * * *' } })
  await reloadChanged(client)
  expect(invalidIn(client)).toEqual([])
})

it('names resources that exist', () => {
  const resources = new Set(Object.values(table).map(resourceOf))
  expect(
    Object.entries(effects)
      .flat(2)
      .filter(name => !resources.has(name)),
  ).toEqual([])
})
