import { briefFormOf } from '@belfry/contract/brief-forms'
import type { Right } from '@belfry/contract/operation'
import { fromId, toId } from '@belfry/domain/id'
import { keyRights } from '@belfry/domain/permissions'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { anOrganization, type TestOrganization } from '../organization.ts'
import { type Answer, useApi } from '../setup.ts'
import { allRoutes, type Route } from './all-routes.ts'
import { objects } from './objects.ts'
import { expectedAnswer, keyWith, type Persona, personas } from './personas.ts'
import { requests } from './requests.ts'
import { sample } from './sample.ts'

// The personas share organizations for their refused calls, which are thousands within seconds.
const api = useApi({ RATE_LIMITS: 'off', QSTASH_API: 'on' })
const all = allRoutes()

// Calls with ids of another organization, and those of a key with the right, are always made.
let calls = 0
afterAll(() => console.log(`${calls} calls of ${all.length} routes`))

type Ids = Record<string, string>

/** An organization, and the ids of those of its objects that were made so far. */
type Place = { organization: TestOrganization; made: Map<string, Promise<string>> }

async function aPlace(): Promise<Place> {
  return { organization: await anOrganization(api), made: new Map() }
}

async function idsOf(route: Route, { organization, made }: Place): Promise<Ids> {
  const ids: Ids = {}
  for (const name of route.params) {
    const object = requests[route.name]?.objects?.[name] ?? name
    const id = made.get(object) ?? objects[object]?.(api, organization) ?? Promise.resolve('')
    made.set(object, id)
    ids[name] = await id
  }
  return ids
}

type Joined = Place & { headers: Record<string, string> }

async function join(persona: Persona): Promise<Joined> {
  const place = await aPlace()
  return { ...place, headers: await persona.join(api, place.organization) }
}

// A call that is refused or only reads changes nothing, so all such calls of a persona share a place.
const unchanged = new Map<Persona, Promise<Joined>>()

function joinFor({ method }: Route, persona: Persona, isAllowed: boolean): Promise<Joined> {
  if (isAllowed && method !== 'GET') return join(persona)
  const joined = unchanged.get(persona) ?? join(persona)
  unchanged.set(persona, joined)
  return joined
}

function send(route: Route, ids: Ids, headers: Record<string, string>): Promise<Answer> {
  const path = route.path.replace(/:(\w+)/g, (_, name) => ids[name] ?? '')
  // Each from its own address: an address that sends many wrong keys is blocked.
  const address = `192.0.${Math.floor(++calls / 250)}.${calls % 250}`
  const fixed = { 'X-Request-Id': 'same', 'X-Forwarded-For': address }
  const all = { ...fixed, ...headers }
  if (path.endsWith('/stream')) return open(path, all)
  const { query = '', body } = requests[route.name] ?? {}
  return api.send(route.method, path + query, body?.(), all)
}

// A stream has no end to wait for.
async function open(path: string, headers: Record<string, string>): Promise<Answer> {
  const leaving = new AbortController()
  const response = await fetch(api.url + path, { headers, signal: leaving.signal })
  const text = response.ok ? '' : await response.text()
  leaving.abort()
  return { status: response.status, headers: response.headers, text, body: undefined }
}

it('every route has a request, and every object in a path can be made', () => {
  expect(all.map(({ name }) => name).filter(name => !requests[name])).toEqual([])
  expect(all.flatMap(({ params }) => params).filter(name => !objects[name])).toEqual([])
  expect(Object.keys(requests).filter(name => !all.some(route => route.name === name))).toEqual([])
})

describe('the table of rights decides', () => {
  it.each(all)('$name', async route => {
    const walk = async (persona: Persona) => {
      const isAllowed = expectedAnswer(right, persona) === 'allowed'
      const place = await joinFor(route, persona, isAllowed)
      const headers = { 'X-Workspace-Id': place.organization.workspaceId, ...place.headers }
      const { status, text } = await send(route, await idsOf(route, place), headers)
      if (status >= 500) throw new Error(`${persona.name}: ${text}`)
      return [persona.name, status]
    }
    const request = requests[route.name]
    const right = request?.right ?? route.endpoint.right
    const allowed = request?.status ?? route.endpoint.response?.status
    const callers = sample(personas, all.indexOf(route))
    const expected = callers.map(persona => {
      const answer = expectedAnswer(right, persona)
      return [persona.name, answer === 'allowed' ? allowed : answer]
    })
    expect(await Promise.all(callers.map(walk))).toEqual(expected)
  })
})

describe('a key with a single right calls the routes of that right, and no others', () => {
  // secret.use opens no route: secret-use.service.test.ts has the requests that ask for it.
  it.each(keyRights.filter(right => right !== 'secret.use'))('%s', async only => {
    const persona = keyWith(only)
    const rightOf = (route: Route) => requests[route.name]?.right ?? route.endpoint.right
    const isGrantedBy = (needed: Right) => needed === only || (only === 'task.write' && needed === 'task.create')
    const closed = all.filter(route => !['public', 'signed_in', 'operator'].includes(rightOf(route)))
    const granted = closed.filter(route => isGrantedBy(rightOf(route)) || requests[route.name]?.orRight === only)
    const others = closed.filter(route => !granted.includes(route))
    expect(granted.length).toBeGreaterThan(0)
    const outcomes = await Promise.all(
      [...granted, ...sample(others, keyRights.indexOf(only))].map(async route => {
        const isGranted = granted.includes(route)
        const place = await joinFor(route, persona, isGranted)
        const { status, body } = await send(route, await idsOf(route, place), place.headers)
        const brief = briefFormOf(route.endpoint.response.body, route.endpoint.right)
        if (brief && isGranted && status < 300) expect([route.name, body]).toEqual([route.name, brief.body.parse(body)])
        const expected = isGranted ? (requests[route.name]?.status ?? route.endpoint.response.status) : 403
        return status === expected ? null : [route.name, status, expected]
      }),
    )
    expect(outcomes.filter(Boolean)).toEqual([])
  })
})

// Ids of another organization, unknown ids and malformed ones.
const strange = (id: string): string[] => {
  const [kind = ''] = id.split('_')
  const unknown = toId(kind as 'org', crypto.randomUUID())
  const other = toId(kind === 'task' ? 'run' : 'task', fromId(kind as 'org', id) ?? '')
  return [unknown, other, `${kind}_x`, `${id}0`, id.toUpperCase(), id.slice(0, -1), 'x', '%00', '%27', 'x'.repeat(300)]
}

describe('ids of other organizations, unknown ids and malformed ids get the same 404', () => {
  const isId = (param: string) => !['code', 'name', 'queue', 'connection', 'token'].includes(param)
  // A host has no id: each workspace may name any.
  const isOfHost = (name: string) => /\/hosts\/:host(\/\w+)?$/.test(name)
  const withIds = all.filter(({ params, name }) => params.some(isId) && !isOfHost(name))
  // Every call is refused, so the tests share both organizations.
  let own: Place
  let others: Place
  beforeAll(async () => {
    ;[own, others] = [await aPlace(), await aPlace()]
  })

  it.each(withIds)('$name', async route => {
    const { organization } = own
    const headers = { 'X-Workspace-Id': organization.workspaceId, ...organization.owner.session }
    const [ids, foreign] = [await idsOf(route, own), await idsOf(route, others)]
    // Other users than operators are refused before the id is read.
    const wanted = route.endpoint.right === 'operator' ? 403 : 404
    const texts = new Set<string>()
    for (const name of route.params.filter(isId)) {
      // The published keys of a workspace are for every caller who knows its id.
      const refused = route.endpoint.right === 'public' ? [] : [foreign[name] ?? '']
      for (const id of [...refused, ...sample(strange(ids[name] ?? ''), all.indexOf(route))]) {
        const answer = await send(route, { ...ids, [name]: id }, headers)
        expect([id, answer.status]).toEqual([id, wanted])
        texts.add(answer.text)
      }
    }
    expect([...texts]).toHaveLength(1)
  })

  const inWorkspace = all.filter(({ path }) => path.startsWith('/api/v1/scheduler/'))
  it.each(inWorkspace)('$name, in the workspace of others', async route => {
    const { organization } = own
    const ids = await idsOf(route, own)
    const callers = [organization.owner.session, await organization.apiKey()]
    const texts = new Set<string>()
    const sendable = strange(organization.workspaceId).filter(id => id !== '%00')
    for (const workspaceId of [others.organization.workspaceId, ...sample(sendable, all.indexOf(route))]) {
      for (const caller of callers) {
        const answer = await send(route, ids, { ...caller, 'X-Workspace-Id': workspaceId })
        expect([workspaceId, answer.status]).toEqual([workspaceId, 404])
        texts.add(answer.text)
      }
    }
    expect([...texts]).toHaveLength(1)
  })
})
