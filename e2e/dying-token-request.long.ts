import { randomBytes } from 'node:crypto'
import { startReceiver } from '@belfry/test-support'
import { waitFor } from '@belfry/test-support/wait-for'
import { expect, it, onTestFinished } from 'vitest'
import { inMs } from './api-calls.ts'
import { startAuthorizationServer } from './authorization-server.ts'
import { startBelfry } from './belfry.ts'

const tasks = '/api/v1/scheduler/tasks'

it('a connection gets its token from another dispatcher when one dies while it requests it', async () => {
  const issuer = await startAuthorizationServer(randomBytes(18).toString('base64url'))
  onTestFinished(() => issuer.close())
  const target = await startReceiver()
  onTestFinished(() => target.close())
  const belfry = await startBelfry('postgres')
  onTestFinished(() => belfry.close())
  await belfry.start('dispatcher')
  const { tokenUrl: token_url, clientId: client_id, clientSecret: client_secret } = issuer
  const connection = { kind: 'oauth2', hosts: [new URL(target.url('/')).host], token_url, client_id, client_secret }
  const path = `/api/v1/workspaces/${belfry.caller.workspaceId}/connections/killed`
  expect((await belfry.call('PUT', path, connection)).status).toBe(201)
  const asked = new Promise<void>(resolve => issuer.next(() => resolve()))
  const task = { name: 'call', method: 'POST', execute_at: inMs(1_500), retry: { max_retries: 1 } }
  const created = await belfry.call('POST', tasks, { ...task, url: target.url('/'), connection: 'killed' })
  expect(created.status, created.text).toBe(201)
  await asked
  // One of these requests the token.
  const dispatchers = belfry.services.filter(({ name }) => name === 'dispatcher')
  await Promise.all(dispatchers.map(service => service.stop('SIGKILL')))
  await belfry.start('dispatcher')
  const { body } = await waitFor(
    () => belfry.call('GET', `${tasks}/${created.body.id}`),
    ({ body }) => body.state === 'success' || body.state === 'dead',
    60_000,
  )
  expect(body.last_run.response_status).toBe(200)
  const [request] = target.requests
  const authorization = new Headers(pairs(request?.rawHeaders ?? [])).get('authorization') ?? ''
  expect(await issuer.isValid(authorization.replace('Bearer ', ''))).toBe(true)
}, 120_000)

function pairs(rawHeaders: string[]): Array<[string, string]> {
  return rawHeaders.flatMap((name, i) => (i % 2 === 0 ? [[name, rawHeaders[i + 1] ?? ''] as [string, string]] : []))
}
