import { type Action, keyRights } from '@belfry/domain/permissions'
import pLimit from 'p-limit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { anOrganization, type TestOrganization } from '../organization.ts'
import { type Answer, aTaskBody, type Json, lastStatus, useApi } from '../setup.ts'
import { allRoutes, type Route } from './all-routes.ts'
import { objects } from './objects.ts'
import { requests } from './requests.ts'
import { sample } from './sample.ts'

const api = useApi({ RATE_LIMITS: 'off', QSTASH_API: 'on' })
const limit = pLimit(10)
const url = 'https://example.com/'
const reference = '{{ secrets.ANYWHERE }}'

let calls = 0
afterAll(() => console.log(`${calls} calls with fields and tools that need a right of their own`))

let organization: TestOrganization
const keys = new Map<string, Promise<{ 'X-Api-Key': string }>>()
beforeAll(async () => {
  organization = await anOrganization(api, 'unlimited')
})

async function send(method: string, path: string, body: unknown, scopes: readonly string[]): Promise<Answer> {
  calls++
  const key = keys.get(scopes.join()) ?? organization.apiKey({ scopes: [...scopes] })
  keys.set(scopes.join(), key)
  const headers = { Accept: 'application/json, text/event-stream', ...(await key) }
  return limit(() => api.send(method, path, body, headers))
}

const schemaOf = ({ endpoint: { body } }: Route): Json =>
  body?.toJSONSchema({ io: 'input', unrepresentable: 'any' }) ?? {}
const fieldsOf = (route: Route) => Object.keys(schemaOf(route).properties ?? {})

/** The routes whose body is, or changes, a request that Belfry sends. */
const written = allRoutes().filter(route => fieldsOf(route).includes('headers'))

/** Sends the body of a route with another field: alone, and as a row of a batch where there is one. */
function doorsOf(route: Route): Array<(field: Json, scopes: readonly string[]) => Promise<Answer>> {
  const base: Json = requests[route.name]?.body?.() ?? {}
  const one = async (field: Json, scopes: readonly string[]) => {
    const [param = ''] = route.params
    const id = (await objects[param]?.(api, organization)) ?? ''
    const path = route.path.replace(/:\w+/, id)
    // Only a finished task is replayed.
    if (path.endsWith('/replay')) await send('DELETE', `/api/v1/scheduler/tasks/${id}`, undefined, ['full'])
    return send(route.method, path, { ...base, ...field }, scopes)
  }
  if (route.path !== '/api/v1/scheduler/tasks') return [one]
  const batch = (field: Json, scopes: readonly string[]) =>
    send('POST', `${route.path}/batch`, { tasks: [aTaskBody(), aTaskBody(field)] }, scopes)
  return [one, batch]
}

const isAccepted = (answer: Answer) => lastStatus(answer) < 300

/** Forms in which a field may have a reference. */
const forms = [
  reference,
  `${url}?key=${reference}`,
  [reference],
  { 'X-Key': reference },
  { url, headers: { 'X-Key': reference } },
  { url: url + reference },
]

/** Fields whose text is shown and never sent with a secret filled in. */
const inert = ['name', 'key', 'payload_base64', 'content_type']

describe.each(written)('$name', route => {
  const right = route.endpoint.right as Action

  it('accepts a reference to a secret in no field from a caller without secret.use', async () => {
    const fields = fieldsOf(route).filter(field => !inert.includes(field))
    const cases = doorsOf(route).flatMap((door, i) =>
      fields.flatMap(field => forms.map(form => ({ door, i, field, form }))),
    )
    const accepted = await Promise.all(
      sample(cases, written.indexOf(route)).map(async ({ door, i, field, form }) => {
        const answer = await door({ [field]: form }, [right])
        return isAccepted(answer) ? [i, field, form] : null
      }),
    )
    expect(accepted.filter(Boolean)).toEqual([])
  })

  it('has fields that a caller with secret.use may send references in', async () => {
    for (const door of doorsOf(route)) {
      const field = { headers: { 'X-Key': reference } }
      expect(lastStatus(await door(field, [right]))).toBe(403)
      expect(lastStatus(await door(field, [right, 'secret.use']))).toBeLessThan(300)
    }
  })

  it('sets limits of a queue for a caller with queue.write', async () => {
    for (const [i, door] of doorsOf(route).entries()) {
      const name = `queue-${right}-${route.method}-${i}`
      const queue = { name, max_concurrent: 2 }
      expect(lastStatus(await door({ queue }, [right]))).toBe(403)
      expect((await send('GET', `/api/v1/scheduler/queues/${name}`, undefined, ['full'])).status).toBe(404)
      expect(lastStatus(await door({ queue }, [right, 'queue.write']))).toBeLessThan(300)
      expect(lastStatus(await door({ queue }, [right]))).toBeLessThan(300) // the limits that it has
      expect(lastStatus(await door({ queue: { ...queue, max_concurrent: 3 } }, [right]))).toBe(403)
    }
  })
})

/** The arguments of each tool, and the rights that it needs in addition to those of the path. */
const tools: Record<string, { arguments: () => Promise<Json> | Json; rights: readonly Action[] }> = {
  list_tasks: { arguments: () => ({}), rights: [] },
  list_cron_jobs: { arguments: () => ({}), rights: ['cron_job.read'] },
  list_runs: { arguments: () => ({}), rights: ['run.read'] },
  explain_task: { arguments: ofTask, rights: ['run.read', 'host.read'] },
  preview_cron: { arguments: () => ({ cron: '0 4 * * *' }), rights: ['cron_job.read'] },
  schedule_task: { arguments: () => ({ url, after: '1h' }), rights: ['task.create'] },
  create_cron_job: { arguments: () => ({ url, name: 'A', cron: '0 0 1 1 *' }), rights: ['cron_job.write'] },
  pause_cron_job: { arguments: ofCronJob, rights: ['cron_job.write'] },
  resume_cron_job: { arguments: ofCronJob, rights: ['cron_job.write'] },
  cancel_task: { arguments: ofTask, rights: ['task.delete'] },
  // It is still pending: refused after the check of the right.
  replay_task: { arguments: ofTask, rights: ['task.write'] },
}

async function ofTask() {
  return { task_id: await objects.task?.(api, organization) }
}

async function ofCronJob() {
  return { cronjob_id: await objects.cronjob?.(api, organization) }
}

async function ask(method: string, params: Json, scopes: readonly string[]): Promise<Json> {
  const { status, text } = await send('POST', '/mcp', { jsonrpc: '2.0', id: 1, method, params }, scopes)
  return { status, result: status === 200 ? JSON.parse(text.replace(/^[\s\S]*?data: /, '')).result : null }
}

describe('the tools of agents need the rights of what they do', () => {
  it('every tool is known', async () => {
    const { result } = await ask('tools/list', {}, ['full'])
    expect(result.tools.map(({ name }: Json) => name).sort()).toEqual(Object.keys(tools).sort())
    expect(
      (
        await ask(
          'tools/list',
          {},
          keyRights.filter(right => right !== 'task.read'),
        )
      ).status,
    ).toBe(403)
  })

  it.each(Object.entries(tools))('%s', async (name, { arguments: args, rights }) => {
    const outcome = async (scopes: readonly string[]) => {
      const { result } = await ask('tools/call', { name, arguments: await args() }, scopes)
      return /^forbidden/.test(result.content[0].text) ? 'forbidden' : 'allowed'
    }
    expect(await outcome(['task.read', ...rights])).toBe('allowed')
    for (const right of rights) {
      const others = keyRights.filter(other => other !== right && !(right === 'task.create' && other === 'task.write'))
      expect([right, await outcome(others)]).toEqual([right, 'forbidden'])
    }
  })
})
