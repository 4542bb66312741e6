import { Belfry } from '@belfry/client'
import { beforeAll, expect, it } from 'vitest'
import { useBelfry } from '../belfry.ts'
import { leftOut, operations } from './operations.ts'

const page = '{"data":[],"next_cursor":null,"status":"done"}'

type Document = { paths: Record<string, Record<string, unknown>> }

const belfry = useBelfry('postgres')
let known: string[]
beforeAll(async () => {
  const { paths } = (await belfry.call('GET', '/api/openapi.json')).body as Document
  known = Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item)
      .filter(method => ['get', 'post', 'put', 'patch', 'delete'].includes(method))
      .map(method => `${method.toUpperCase()} ${path}`),
  )
})

const isLeftOut = (operation: string) =>
  Object.keys(leftOut).some(start => operation.startsWith(start) || operation.split(' ')[1]?.startsWith(start))

/** Returns the names of all methods, such as `tasks.create`. */
function methodsOf(value: object, before = ''): string[] {
  return Object.entries(value).flatMap(([name, member]) =>
    typeof member === 'function' ? [before + name] : methodsOf(member as object, `${before}${name}.`),
  )
}

it('lists every method of the client', () => {
  expect(Object.keys(operations).sort()).toEqual(methodsOf(new Belfry({ apiKey: 'k' })).sort())
})

it.each(Object.entries(operations))('%s calls what the interface describes', async (_, [operation, call]) => {
  const asked: string[] = []
  const fetch: typeof globalThis.fetch = async (url, init) => {
    asked.push(`${init?.method} ${new URL(String(url)).pathname}`)
    return new Response(String(url).endsWith('/stream') ? 'data: {"id":"run_1"}\n\n' : page)
  }
  await call(new Belfry({ apiKey: 'k', baseUrl: 'http://belfry.test', fetch }))
  const pattern = new RegExp(`^${operation.replace(/\{\w+\}/g, '[^/]+')}$`)
  expect(asked).toEqual([expect.stringMatching(pattern)])
  expect(known).toContain(operation)
})

it('reads all five resources with an API key alone', async () => {
  const { apiKey = '', workspaceId = '', organizationId = '' } = belfry.caller
  const client = new Belfry({ apiKey, baseUrl: belfry.url })
  expect((await client.tasks.list()).data).toEqual([])
  expect((await client.cronJobs.list()).data).toEqual([])
  expect((await client.runs.list()).data).toEqual([])
  expect(await client.workspaces.get(workspaceId)).toMatchObject({ id: workspaceId, organizationId })
  expect((await client.workspaces.members(workspaceId)).data).toEqual([])
  expect(await client.organizations.get(organizationId)).toEqual({
    ...{ id: organizationId, name: expect.any(String), slug: expect.any(String), tier: expect.any(String) },
  })
  expect((await client.organizations.workspaces(organizationId)).data).toMatchObject([{ id: workspaceId }])
})

it('omits only the operations in the list of omissions', () => {
  const has = new Set(Object.values(operations).map(([operation]) => operation))
  expect(known.filter(operation => !has.has(operation) && !isLeftOut(operation))).toEqual([])
  const ofScheduler = known.filter(operation => operation.includes('/scheduler/') && isLeftOut(operation))
  expect(ofScheduler.sort()).toEqual([
    'GET /api/v1/scheduler/cronjobs/recent-runs',
    'GET /api/v1/scheduler/overview',
    'GET /api/v1/scheduler/search',
    'GET /api/v1/scheduler/upcoming',
    'PUT /api/v1/scheduler/runs/failures',
  ])
  for (const path of Object.keys(leftOut)) expect(known.some(operation => operation.includes(path))).toBe(true)
})
