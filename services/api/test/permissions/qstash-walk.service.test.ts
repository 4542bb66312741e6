import { fromId } from '@belfry/domain/id'
import { type Action, keyRights } from '@belfry/domain/permissions'
import pLimit from 'p-limit'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { readOptions } from '../../src/qstash/publish/message-options.ts'
import { qstashRoutes } from '../../src/qstash/qstash.ts'
import { anOrganization, type TestOrganization } from '../organization.ts'
import { type Answer, useApi } from '../setup.ts'
import { inertHeaders, messageHeaders, qstashRequests } from './qstash-requests.ts'
import { sample } from './sample.ts'

const api = useApi({ RATE_LIMITS: 'off', QSTASH_API: 'on' })
const limit = pLimit(10)
const url = 'https://example.com/'
const reference = '{{ secrets.ANYWHERE }}'

const all = qstashRoutes.flatMap(([path, methods]) =>
  Object.entries(methods).map(([verb, { right }]) => {
    const name = `${verb.toUpperCase()} ${path}`
    const { path: rest = String(path).replace(/:\w+/, 'unknown'), body } = qstashRequests[name] ?? {}
    return { name, method: verb.toUpperCase(), path: `/v2${rest}`, right: right as Action, body }
  }),
)

let calls = 0
afterAll(() => console.log(`${calls} calls of ${all.length} routes with ${Object.keys(messageHeaders).length} headers`))

type Headers = Record<string, string>

async function send(method: string, path: string, body: unknown, headers: Headers): Promise<Answer> {
  calls++
  const address = `198.51.${Math.floor(calls / 250)}.${calls % 250}`
  const answer = await limit(() => api.send(method, path, body, { 'X-Forwarded-For': address, ...headers }))
  if (answer.status >= 500 && answer.status !== 501) throw new Error(`${method} ${path}: ${answer.text}`)
  return answer
}

let organization: TestOrganization
const bearers = new Map<string, Promise<Headers>>()

/** Returns the headers of a key of the organization with some rights. */
function keyWith(...scopes: string[]): Promise<Headers> {
  const made = bearers.get(scopes.join()) ?? organization.apiKey({ scopes }).then(toBearer)
  bearers.set(scopes.join(), made)
  return made
}

const toBearer = ({ 'X-Api-Key': key }: { 'X-Api-Key': string }) => ({ Authorization: `Bearer ${key}` })

beforeAll(async () => {
  organization = await anOrganization(api, 'unlimited')
})

it('every route and every header has a request', () => {
  expect(all.map(({ name }) => name).sort()).toEqual(Object.keys(qstashRequests).sort())
  const read = new Set<string>()
  const sent: Headers = { 'upstash-callback': url, 'upstash-failure-callback': url }
  const begins = vi.spyOn(String.prototype, 'startsWith')
  readOptions(
    new Proxy(sent, {
      get(_, name) {
        read.add(String(name))
        return sent[String(name)]
      },
    }),
  )
  const prefixes = begins.mock.calls.map(([prefix]) => prefix)
  begins.mockRestore() // the next line calls it
  for (const prefix of prefixes) if (prefix.startsWith('upstash-')) read.add(prefix)
  expect([...read].sort()).toEqual(Object.keys(messageHeaders).sort())
})

describe('a key calls the routes of its rights, and no others', () => {
  it.each(all)('$name', async ({ name, method, path, right, body }) => {
    const headers = name.endsWith('schedules\\/./') ? { 'Upstash-Cron': '0 0 1 1 *' } : {}
    const scopes = sample(
      keyRights,
      all.findIndex(one => one.name === name),
    ).concat(right)
    const outcomes = ['full', ...scopes].map(async scope => {
      const { status } = await send(method, path, body, { ...headers, ...(await keyWith(scope)) })
      const isGranted = scope === 'full' || scope === right || (scope === 'task.write' && right === 'task.create')
      return isGranted === ![401, 403].includes(status) ? null : [scope, status]
    })
    const strangers = [
      {},
      organization.owner.session,
      toBearer(await organization.apiKey({ revokedAt: new Date(0) })),
      toBearer(await organization.apiKey({ expiresAt: new Date(Date.now() - 1000) })),
    ].map(async credential => {
      const { status } = await send(method, path, body, { ...headers, ...credential })
      return status === 401 ? null : ['a stranger', status]
    })
    expect((await Promise.all([...outcomes, ...strangers])).filter(Boolean)).toEqual([])
  })
})

type Door = { right: Action; send: (headers: Headers, credential: Headers) => Promise<Answer> }

/** Each way to send the headers of a message. */
const doors: Record<string, Door> = {
  publish: {
    right: 'task.create',
    send: (headers, key) => send('POST', `/v2/publish/${url}`, 'x', { ...headers, ...key }),
  },
  enqueue: {
    right: 'task.create',
    send: (headers, key) => send('POST', `/v2/enqueue/q/${url}`, 'x', { ...headers, ...key }),
  },
  batch: {
    right: 'task.create',
    send: (headers, key) => send('POST', '/v2/batch', [{ destination: url, headers, body: 'x' }], key),
  },
  schedules: {
    right: 'cron_job.write',
    send: (headers, key) =>
      send('POST', `/v2/schedules/${url}`, 'x', { 'upstash-cron': '0 0 1 1 *', ...headers, ...key }),
  },
}

// What a door does not offer to any caller.
const refused: Record<string, RegExp> = {
  publish: /workflow/,
  enqueue: /workflow|flow-control/,
  batch: /workflow|cron/,
  schedules: /workflow|not-before/,
}
const isOfCallback = /callback-/

/** Returns the numbers of what a key must not change that only creates tasks. */
async function countOthers({ workspaceId }: TestOrganization): Promise<number[]> {
  const others = ['cron_jobs', 'subscriptions', 'queues WHERE max_concurrent IS NOT NULL OR rate_count IS NOT NULL']
  const counts = others.map(async of => {
    const text = `SELECT FROM (SELECT * FROM ${of}) o WHERE workspace_id = $1`
    return (await api.db.query(text, [fromId('ws', workspaceId)])).rowCount ?? 0
  })
  return Promise.all(counts)
}

describe.each(Object.keys(doors))('a header of %s needs the right to what it does', name => {
  const { right, send: sendTo } = doors[name] as Door
  const headers = Object.entries(messageHeaders)

  it('with a value', async () => {
    const own = await anOrganization(api, 'unlimited')
    const narrow = toBearer(await own.apiKey({ scopes: [right] }))
    const outcomes = headers.map(async ([header, { value, needs, beside = {} }]) => {
      const given = { ...beside, [header.replace(/-$/, '-x')]: value }
      if (refused[name]?.test(header) && !isOfCallback.test(header)) {
        const { status, text } = await sendTo(given, await keyWith('full'))
        return status === 501 || text.includes('error') ? null : [header, status]
      }
      const other = header === 'upstash-cron' && name === 'schedules' ? undefined : needs
      const { status } = await sendTo(given, narrow)
      if (other === undefined) return status < 300 ? null : [header, status]
      const wide = await sendTo(given, await keyWith(right, other))
      return status === 403 && wide.status < 300 ? null : [header, status, wide.status]
    })
    expect((await Promise.all(outcomes)).filter(Boolean)).toEqual([])
    if (right === 'task.create') expect(await countOthers(own)).toEqual([0, 0, 0])
  })

  it('with a reference to a secret', async () => {
    const narrow = await keyWith(right)
    const outcomes = headers.map(async ([header, { beside = {} }]) => {
      const given = { ...beside, [header.replace(/-$/, '-x')]: /callback$/.test(header) ? url + reference : reference }
      const { status, text } = await sendTo(given, narrow)
      const isAccepted = status < 300 && !text.includes('"error"')
      const isInert = [header, `${name}: ${header}`].some(one => inertHeaders.includes(one))
      return isAccepted && !isInert ? [header, status, text] : null
    })
    expect((await Promise.all(outcomes)).filter(Boolean)).toEqual([])
    const forwarded = { 'upstash-forward-x': reference }
    expect((await sendTo(forwarded, narrow)).text).toContain('secret.use')
    expect((await sendTo(forwarded, await keyWith(right, 'secret.use'))).status).toBeLessThan(300)
  })
})
