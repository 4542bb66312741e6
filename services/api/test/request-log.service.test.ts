import { once } from 'node:events'
import { mkdtempSync, openSync, readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger } from '@belfry/runtime'
import { waitFor } from '@belfry/test-support/wait-for'
import { beforeAll, expect, it, onTestFinished } from 'vitest'
import { createApp } from '../src/app.ts'
import { createApiServer } from '../src/http/api-server.ts'
import { type Caller, useApi } from './setup.ts'

const api = useApi({}, { tier: 'free' }) // ten requests per second
const tasks = '/api/v1/scheduler/tasks'
const ofKey = { key: expect.stringMatching(/^key_/) }
const ofUser = { user: expect.stringMatching(/^user_/) }

let caller: Caller
let tenant: { organization: string; workspace: string }
beforeAll(async () => {
  caller = await api.signUp()
  tenant = { organization: caller.organizationId, workspace: caller.workspaceId }
})

/** Sends one request to an API with a log, and returns the members of its line that name the caller. */
async function loggedCaller(path: string, headers: Record<string, string>, times = 1) {
  const file = join(mkdtempSync(join(tmpdir(), 'belfry-log-')), 'log')
  const log = createLogger('api', 'info', openSync(file, 'w'))
  const ctx = { ...api.ctx, log }
  const server = createApiServer(ctx, createApp(ctx, { database: async () => {} }))
  onTestFinished(() => void server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`
  const responses = await Promise.all(Array.from({ length: times }, () => fetch(url, { headers })))
  const lines = await waitFor(
    async () =>
      readFileSync(file, 'utf8')
        .trim()
        .split('\n')
        .filter(line => line.includes('request.served')),
    found => found.length === times,
  )
  return {
    statuses: responses.map(({ status }) => status),
    lines: lines
      .map(line => JSON.parse(line))
      .map(({ organization, workspace, key, user }) => ({ organization, workspace, key, user })),
  }
}

it('names the organization, the workspace and the key of a caller', async () => {
  const { statuses, lines } = await loggedCaller(tasks, { 'X-Api-Key': caller.apiKey })
  expect([statuses, lines]).toEqual([[200], [{ ...tenant, ...ofKey }]])
})

it('names the user of a session, in a workspace, an organization or neither', async () => {
  const session = { Authorization: `Bearer ${caller.token}` }
  const lineOf = async (path: string, headers = {}) => (await loggedCaller(path, { ...session, ...headers })).lines[0]
  expect(await lineOf(tasks, { 'X-Workspace-Id': caller.workspaceId })).toEqual({ ...tenant, ...ofUser })
  const members = `/api/v1/organizations/${caller.organizationId}/members`
  expect(await lineOf(members)).toEqual({ organization: caller.organizationId, ...ofUser })
  expect(await lineOf('/api/v1/auth/me')).toEqual(ofUser)
})

it('names the caller of requests that are refused for their number', async () => {
  const burst = () => loggedCaller(tasks, { 'X-Api-Key': caller.apiKey }, 20)
  // A slow machine needs longer for a burst than the limit needs to recover.
  const { lines } = await waitFor(burst, ({ statuses }) => statuses.includes(429))
  expect(lines).toEqual(lines.map(() => ({ ...tenant, ...ofKey })))
})

it('names nothing of an unknown caller, and no tenant that the user does not belong to', async () => {
  expect((await loggedCaller(tasks, { 'X-Api-Key': `${caller.apiKey}x` })).lines).toEqual([{}])
  const stranger = await api.signUp()
  const headers = { Authorization: `Bearer ${stranger.token}`, 'X-Workspace-Id': caller.workspaceId }
  expect(await loggedCaller(tasks, headers)).toEqual({ statuses: [404], lines: [ofUser] })
})
