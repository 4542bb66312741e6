import { freePort } from '@belfry/embedded'
import { queueBackends, type Receiver, startReceiver } from '@belfry/test-support'
import { propertyRuns } from '@belfry/test-support/property-runs'
import { waitFor } from '@belfry/test-support/wait-for'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Caller, callApi, inMs } from './api-calls.ts'
import { type Belfry, type QueueBackend, startBelfry, useBelfry } from './belfry.ts'

const me = '/api/v1/auth/me'
const tasks = '/api/v1/scheduler/tasks'
const password = 'correct horse battery'
// A revoked right must stop working on every process within this time, with a margin for a loaded machine.
const inForceMs = 5_000 + 3_000

// With Redis up, with Redis down, and without one.
const settings = queueBackends().flatMap(
  (backend): Array<[QueueBackend, 'up' | 'down' | 'absent']> =>
    backend === 'redis'
      ? [
          [backend, 'up'],
          [backend, 'down'],
        ]
      : [[backend, 'absent']],
)

describe.each(settings.slice(0, propertyRuns(3, 1)))(
  'two API processes, with the queue on %s and Redis %s',
  { timeout: 90_000 },
  (backend, redis) => {
    let belfry: Belfry
    let urls: string[]
    beforeAll(async () => {
      belfry = await startBelfry(backend, { services: ['api'] })
      const port = await freePort()
      await belfry.start('api', { PORT: String(port) })
      urls = [belfry.url, `http://127.0.0.1:${port}`]
      if (redis === 'down') await belfry.stopRedis()
    })
    afterAll(() => belfry?.close())

    const statuses = (caller: Caller, path: string) =>
      Promise.all(urls.map(async url => (await callApi(url, caller, 'GET', path)).status))
    const expectGone = async (caller: Caller, path: string, status: number) => {
      const began = performance.now()
      await waitFor(
        () => statuses(caller, path),
        answers => answers.every(answer => answer === status),
      )
      expect(performance.now() - began).toBeLessThan(inForceMs)
    }
    const signIn = async (email: string): Promise<Caller> => ({
      token: (await callApi(urls[1] ?? '', {}, 'POST', '/api/v1/auth/login', { email, password })).body.token,
    })
    const register = async (): Promise<{ id: string; email: string; caller: Caller }> => {
      const email = `${crypto.randomUUID()}@example.com`
      const { body } = await callApi(belfry.url, {}, 'POST', '/api/v1/auth/register', { email, password, name: 'Ada' })
      return { id: body.user.id, email, caller: { token: body.token } }
    }

    it('a revoked key, a logout, a changed password and a removal are in force on both within five seconds', async () => {
      const { caller } = belfry
      const { workspaceId, organizationId } = caller
      const keys = `/api/v1/workspaces/${workspaceId}/api-keys`
      const session = { token: caller.token ?? '' }
      const created = await belfry.call('POST', keys, { name: 'To be revoked' }, session)
      const key = { apiKey: created.body.key }
      expect(await statuses(key, tasks)).toEqual([200, 200])
      expect((await belfry.call('DELETE', `${keys}/${created.body.id}`, undefined, session)).status).toBe(204)
      await expectGone(key, tasks, 401)
      expect(await statuses({ apiKey: caller.apiKey ?? '' }, tasks)).toEqual([200, 200])

      const ada = await register()
      const second = await signIn(ada.email)
      const third = await signIn(ada.email)
      expect(await statuses(second, me)).toEqual([200, 200])
      expect((await belfry.call('POST', '/api/v1/auth/logout', undefined, second)).status).toBe(204)
      await expectGone(second, me, 401)
      const change = { password: 'another password', current_password: password }
      expect((await belfry.call('PATCH', me, change, ada.caller)).status).toBe(200)
      await expectGone(third, me, 401)
      expect(await statuses(ada.caller, me)).toEqual([200, 200])

      const members = `/api/v1/organizations/${organizationId}/members`
      await belfry.execute(
        `INSERT INTO memberships (organization_id, user_id, role)
       SELECT o.id, u.id, 'admin' FROM organizations o, users u WHERE u.email = '${ada.email}'`,
      )
      expect(await statuses(ada.caller, members)).toEqual([200, 200])
      expect((await belfry.call('DELETE', `${members}/${ada.id}`, undefined, session)).status).toBe(204)
      await expectGone(ada.caller, members, 404)
    })

    it('wrong passwords are counted together across processes', async () => {
      const { email } = await register()
      const attempts = Array.from({ length: 24 }, (_, i) =>
        callApi(urls[i % 2] ?? '', {}, 'POST', '/api/v1/auth/login', { email, password: 'a wrong password' }),
      )
      const answers = (await Promise.all(attempts)).map(({ status }) => status)
      // Ten of the account, and the spare attempt of this network.
      expect(answers.filter(status => status === 401)).toHaveLength(11)
      expect(answers.filter(status => status === 429)).toHaveLength(13)
    })
  },
)

// Without a Redis it is tested on the virtual clock.
const withRedis = queueBackends().filter(backend => backend === 'redis')
describe.each(withRedis)('a deleted workspace, with the queue on %s', { timeout: 90_000 }, backend => {
  const belfry = useBelfry(backend)
  let target: Receiver
  beforeAll(async () => {
    target = await startReceiver()
  })
  afterAll(() => target?.close())

  it('starts nothing more: no due task, no retry, no cron job', async () => {
    const { caller } = belfry
    const other = await belfry.anotherCaller()
    const task = (path: string, aheadMs: number) => ({
      ...{ name: path, url: target.url(path), method: 'POST', execute_at: inMs(aheadMs) },
      retry: { max_retries: 5, backoff: 'fixed', base_delay_ms: 1000, max_delay_ms: 1000 },
    })
    target.answer('/retries', { status: 503 })
    expect((await belfry.call('POST', tasks, task('/retries', 300))).status).toBe(201)
    await target.waitFor(1, 10_000)
    const cronJob = { name: 'Each minute', cron: '* * * * *', url: target.url('/cron'), method: 'POST' }
    expect((await belfry.call('POST', '/api/v1/scheduler/cronjobs', cronJob)).status).toBe(201)
    await Promise.all(Array.from({ length: 20 }, () => belfry.call('POST', tasks, task('/soon', 12_000))))
    await belfry.call('POST', tasks, task('/others', 14_000), other)
    const session = { token: caller.token ?? '' }
    const path = `/api/v1/workspaces/${caller.workspaceId}`
    expect((await belfry.call('DELETE', path, undefined, session)).status).toBe(204)
    const seen = target.requests.length
    expect(target.requestsTo('/soon').length).toBeLessThan(20)
    await target.waitFor(requests => requests.some(request => request.path === '/others'), 30_000)
    // An attempt that was claimed before the deletion may finish.
    const later = target.requests.slice(seen).map(request => request.path)
    expect(later.filter(path => path !== '/others').length).toBeLessThanOrEqual(1)
    const left = `SELECT id FROM tasks JOIN task_requests ON task_id = id WHERE finished_at IS NULL AND url = ANY ($1)
      UNION ALL SELECT id FROM cron_jobs WHERE url = ANY ($1)`
    const urls = ['/retries', '/soon', '/cron', '/others'].map(each => target.url(each))
    await waitFor(
      () => belfry.execute(left, [urls]),
      rows => rows.length === 0,
      30_000,
    )
    const cancelled = `SELECT DISTINCT state_reason FROM tasks JOIN task_requests ON task_id = id
      WHERE state = 'cancelled' AND url = ANY ($1)`
    const reasons = await belfry.execute(cancelled, [urls])
    expect(reasons).toEqual([{ state_reason: 'workspace_deleted' }])
  })
})
