import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { fromId } from '@belfry/domain/id'
import { expect, it } from 'vitest'
import { aTaskBody, type Caller, useApi } from './setup.ts'

const api = useApi({ RATE_LIMITS: 'off', QSTASH_API: 'on' })

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })
const patchUser = ({ token }: Caller) => ['PATCH', '/api/v1/auth/me', bearer(token), { name: 'Ada' }] as const
const postTask = ({ apiKey }: Caller) =>
  ['POST', '/api/v1/scheduler/tasks', { 'X-Api-Key': apiKey }, aTaskBody()] as const
const publish = ({ apiKey }: Caller) => ['POST', '/v2/publish/https://example.com/', bearer(apiKey), {}] as const

const logOut = ({ token }: Caller) => api.send('POST', '/api/v1/auth/logout', undefined, bearer(token))
async function revokeKeys({ workspaceId }: Caller) {
  const text = 'UPDATE api_keys SET revoked_at = now() WHERE workspace_id = $1'
  await api.db.query(text, [fromId('ws', workspaceId)])
  api.ctx.apiKeys.clear()
}

it.each([
  ['is refused after a logout', patchUser, logOut, 401],
  ['is refused after its key was revoked', postTask, revokeKeys, 401],
  ['is refused in the interface of QStash after its token was revoked', publish, revokeKeys, 401],
  ['is served by a key that is in force', postTask, async () => {}, 201],
])('a request whose body arrives late %s', async (_what, make, act, status) => {
  const caller = await api.signUp()
  const [method, path, headers, value] = make(caller)
  const body = JSON.stringify(value)
  const all = { 'Content-Type': 'application/json', 'Content-Length': body.length, Expect: '100-continue', ...headers }
  const sent = request(api.url + path, { method, headers: all })
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>
  sent.flushHeaders()
  await once(sent, 'continue') // the caller has been checked
  sent.write(body.slice(0, -1))
  await sleep(2_100)
  await act(caller)
  sent.end(body.slice(-1))
  const [response] = await answered
  response.resume()
  expect(response.statusCode).toBe(status)
})
