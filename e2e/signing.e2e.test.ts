import { setTimeout as sleep } from 'node:timers/promises'
import { webhooks } from '@belfry/client'
import { type Receiver, startReceiver } from '@belfry/test-support'
import { waitFor } from '@belfry/test-support/wait-for'
import pg from 'pg'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createWorkspace, inMs } from './api-calls.ts'
import { useBelfry } from './belfry.ts'

const tasks = '/api/v1/scheduler/tasks'

// Each receiver verifies with a library of others, not with our code.
const libraries = { standardwebhooks: StandardWebhook, svix: SvixWebhook }

describe('a delivery is signed', () => {
  const belfry = useBelfry('postgres')
  let target: Receiver
  let db: pg.Client
  let count = 0
  beforeAll(async () => {
    target = await startReceiver()
    db = new pg.Client({ connectionString: belfry.databaseUrl })
    await db.connect()
  })
  afterAll(async () => {
    await db?.end()
    await target?.close()
  })

  const signingSecrets = (id = '', caller = belfry.caller) =>
    `/api/v1/workspaces/${caller.workspaceId}/signing-secrets${id}`
  const currentSecret = async (caller = belfry.caller): Promise<{ id: string; secret: string }> =>
    (await belfry.call('GET', signingSecrets('', caller), undefined, caller)).body.data[0]

  /** Delivers a request, and returns it as the target received it. */
  const deliver = async (request: Record<string, unknown>, caller = belfry.caller) => {
    const path = `/${count++}`
    const body = { name: path, url: target.url(path), execute_at: inMs(1500), ...request }
    expect((await belfry.call('POST', tasks, body, caller)).status).toBe(201)
    await target.waitFor(() => target.requestsTo(path).length > 0, 15_000)
    const [received] = target.requestsTo(path)
    if (!received) throw new Error('Nothing was received.')
    return received
  }
  type Received = Awaited<ReturnType<typeof deliver>>

  /** Creates a workspace, because dispatchers sign for some seconds with secrets that a test has replaced. */
  const aWorkspace = async () => {
    const caller = await createWorkspace(belfry.url, belfry.caller)
    return {
      caller,
      call: (method: string, path: string, body?: unknown) => belfry.call(method, path, body, caller),
      signingSecrets: (id = '') => signingSecrets(id, caller),
      currentSecret: () => currentSecret(caller),
      deliverSome: () => deliver({ method: 'POST', payload: { n: 1 } }, caller),
    }
  }

  function verifies(received: Received, secret: string, body: Buffer | string = received.body): boolean[] {
    const entries = received.rawHeaders.flatMap((name, i) => (i % 2 === 0 ? [[name, received.rawHeaders[i + 1]]] : []))
    const headers = Object.fromEntries(entries) as Record<string, string>
    return Object.values(libraries).map(Webhook => {
      try {
        new Webhook(secret).verify(body.toString(), headers, { jsonParse: false })
        return true
      } catch (error) {
        // Older libraries parse the verified body, and not every body is JSON.
        return error instanceof SyntaxError
      }
    })
  }
  const [both, neither] = [
    [true, true],
    [false, false],
  ]

  it.concurrent.each([
    { method: 'GET' },
    { method: 'GET', payload: { a: 1 } },
    { method: 'POST', payload: { n: 12345678901234567890n.toString(), text: 'ünïcode 😀 日本' } },
    { method: 'PUT', payload: '' },
    { method: 'PATCH', payload: null },
    { method: 'DELETE' },
    { method: 'POST' },
    { method: 'POST', payload: '', headers: { 'Content-Type': 'text/plain' } },
    { method: 'POST', payload: 'raw text: ü\r\n😀', headers: { 'Content-Type': 'text/plain; charset=utf-8' } },
    { method: 'POST', payload: { token: '{{ secrets.SIGNED }}' } },
  ])('over exactly the bytes that are sent: %j', async request => {
    await belfry.call('PUT', `/api/v1/workspaces/${belfry.caller.workspaceId}/secrets/SIGNED`, { value: 'wért "1"' })
    const received = await deliver(request)
    const { secret } = await currentSecret()
    expect(verifies(received, secret)).toEqual(both)
    expect(verifies(received, secret, `${received.body} `)).toEqual(neither)
    expect(verifies(received, `whsec_${Buffer.alloc(32, 7).toString('base64')}`)).toEqual(neither)
    if (JSON.stringify(request).includes('SIGNED')) expect(received.body.toString()).toBe('{"token":"wért \\"1\\""}')
  })

  it('by the old and the new secret after a rotation, until the old one expires or is revoked', async () => {
    const { call, signingSecrets, currentSecret, deliverSome } = await aWorkspace()
    const first = await currentSecret()
    const before = await deliverSome()
    expect(verifies(before, first.secret)).toEqual(both)
    const { body: second } = await call('POST', signingSecrets())
    await sleep(5_500) // each dispatcher caches secrets for five seconds
    const during = await deliverSome()
    expect([verifies(during, first.secret), verifies(during, second.secret)]).toEqual([both, both])
    const signatures = new Headers(pairs(during.rawHeaders)).get('webhook-signature')?.split(' ')
    expect(signatures).toHaveLength(2)

    await db.query(
      `UPDATE signing_secrets SET expires_at = now() - interval '1 ms' WHERE expires_at IS NOT NULL
         AND workspace_id IN (SELECT workspace_id FROM tasks JOIN task_requests ON task_id = id WHERE url = $1)`,
      [target.url(before.path)],
    )
    await waitFor(
      async () => verifies(await deliverSome(), first.secret),
      seen => !seen.some(Boolean),
    )
    expect(verifies(await deliverSome(), second.secret)).toEqual(both)

    const { body: third } = await call('POST', signingSecrets())
    expect((await call('DELETE', signingSecrets(`/${third.id}`))).status).toBe(409)
    expect((await call('DELETE', signingSecrets(`/${second.id}`))).status).toBe(204)
    await waitFor(
      async () => {
        const received = await deliverSome()
        return [verifies(received, second.secret), verifies(received, third.secret)]
      },
      seen => JSON.stringify(seen) === JSON.stringify([neither, both]),
    )
  })

  it('by the own secret of a subscription, and not by that of the workspace', async () => {
    const { call, currentSecret } = await aWorkspace()
    const topic = 'signed.alone'
    const subscribe = async (path: string) => {
      const body = { topic, url: target.url(path), on_success: { url: target.url(`${path}/done`) } }
      return (await call('POST', '/api/v1/scheduler/subscriptions', body)).body.id as string
    }
    const id = await subscribe('/own')
    await subscribe('/shared')
    const secretsOf = `/api/v1/scheduler/subscriptions/${id}/signing-secrets`
    const rotate = async (): Promise<string> => (await call('POST', secretsOf)).body.secret
    const publish = async () => {
      const before = target.requests.length
      await call('POST', '/api/events', { topic, payload: { n: 1 } })
      await target.waitFor(() => target.requests.length === before + 4, 15_000)
      const requests = target.requests.slice(before)
      return (path: string) => requests.find(request => request.path === path) as Received
    }
    const { secret: shared } = await currentSecret()
    const first = await rotate()
    const received = await publish()
    expect([verifies(received('/own'), first), verifies(received('/own'), shared)]).toEqual([both, neither])
    for (const path of ['/shared', '/own/done', '/shared/done']) {
      expect([path, verifies(received(path), first), verifies(received(path), shared)]).toEqual([path, neither, both])
    }
    const second = await rotate()
    await waitFor(
      async () => (await publish())('/own'),
      request => [first, second].every(secret => verifies(request, secret).every(Boolean)),
      30_000,
    )
    expect((await call('DELETE', secretsOf)).status).toBe(204)
    await waitFor(
      async () => (await publish())('/own'),
      request => verifies(request, shared).every(Boolean),
      30_000,
    )
    const log = await db.query('SELECT details FROM audit_log')
    expect(JSON.stringify(log.rows)).not.toMatch(/whsec_/)
  })

  it('with Ed25519 too once the workspace says so, and each caller can read the public key', async () => {
    const { caller, call, signingSecrets, currentSecret, deliverSome } = await aWorkspace()
    const workspace = `/api/v1/workspaces/${caller.workspaceId}`
    const { token, workspaceId } = caller
    const owner = { token, workspaceId } as typeof belfry.caller
    const changed = await belfry.call('PATCH', workspace, { asymmetric_signatures: true }, owner)
    expect(changed.body.asymmetric_signatures).toBe(true)
    const response = await fetch(`${belfry.url}${workspace}/signing-keys`)
    expect(response.status).toBe(200)
    const { data } = (await response.json()) as { data: Array<{ public_key: string; expires_at: string | null }> }
    expect(data[0]?.expires_at).toBeNull()
    const keys = data.map(({ public_key }) => public_key)
    const received = await waitFor(deliverSome, ({ rawHeaders }) => signatureOf(rawHeaders).includes('v1a,'))
    const headers = new Headers(pairs(received.rawHeaders))
    expect(await webhooks.verify(received.body, headers, keys[0])).toMatchObject({ payload: { n: 1 } })
    await expect(webhooks.verify(`${received.body} `, headers, keys[0])).rejects.toThrow('no valid signature')
    expect(verifies(received, (await currentSecret()).secret)).toEqual(both)

    await call('POST', signingSecrets())
    const rotated = await waitFor(
      deliverSome,
      ({ rawHeaders }) => signatureOf(rawHeaders).split('v1a,').length === keys.length + 2,
    )
    const after = new Headers(pairs(rotated.rawHeaders))
    expect(await webhooks.verify(rotated.body, after, keys[0])).toMatchObject({ payload: { n: 1 } })

    await belfry.call('PATCH', workspace, { asymmetric_signatures: false }, owner)
    const unknown = await fetch(`${belfry.url}/api/v1/workspaces/ws_00000000000000000000000000/signing-keys`)
    expect(unknown.status).toBe(404)
  })
})

const signatureOf = (rawHeaders: string[]) => new Headers(pairs(rawHeaders)).get('webhook-signature') ?? ''

function pairs(rawHeaders: string[]): Array<[string, string]> {
  return rawHeaders.flatMap((name, i) => (i % 2 === 0 ? [[name, rawHeaders[i + 1] ?? ''] as [string, string]] : []))
}
