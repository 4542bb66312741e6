import { fromId } from '@belfry/domain/id'
import { propertyRuns } from '@belfry/test-support/property-runs'
import { expect, it } from 'vitest'
import { type Actor, anActor, anActorWithPast, learn } from './fuzz/actor.ts'
import { createAnswerCheck } from './fuzz/check-answer.ts'
import { generateRequest, type Operation } from './fuzz/generate-request.ts'
import { createRandom } from './fuzz/random.ts'
import { createSender } from './fuzz/send.ts'
import { readOpenApi } from './read-openapi.ts'
import { type Json, useApi } from './setup.ts'

const seed = Number(process.env.FUZZ_SEED ?? 1)
const count = propertyRuns(20_000, 500)
const atATime = propertyRuns(24, 8)
// Hashing a password, waiting for a dispatcher or exporting everything takes as long as a hundred other requests, and the
// documents are long and never change. Operators' operations are refused, and so are made-up conditions of credentials.
const rare =
  /operator\/|auth\/(register|login|password|confirm|token-exchange)|federated-credentials|accept$|test$|export$|openapi|docs/
// These leave the caller without access, so a new caller sends each of them.
const isFinal = ({ method, path }: Operation) =>
  /auth\/(oidc\/)?logout$/.test(path) ||
  (method === 'PATCH' && /auth\/me$/.test(path)) ||
  (method !== 'GET' &&
    /auth\/(sessions|me\/delete)|\/transfer$|\/members\/|\/api-keys\/|(workspaces\/\{ws\}|organizations\/\{org\})$/.test(
      path,
    ))

// Few callers send as many requests as they can.
const api = useApi({ RATE_LIMITS: 'off' })

function operationsOf(document: Json): Operation[] {
  const all = Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).map(([method, description]) => ({ path, method: method.toUpperCase(), description })),
  )
  const weightOf = (operation: Operation) => (rare.test(operation.path) || isFinal(operation) ? 1 : 24)
  return all.flatMap(operation => Array.from({ length: weightOf(operation) }, () => operation))
}

// An organization can be deleted once its workspaces are.
async function prepare({ method, path }: Operation, { workspaceId }: Actor): Promise<void> {
  if (method !== 'DELETE' || !path.endsWith('{org}')) return
  const id = fromId('ws', workspaceId) ?? ''
  await api.ctx.prisma.workspace.update({ where: { id }, data: { deletedAt: new Date() } })
}

it(`keeps every promise of the OpenAPI document in ${count} requests (seed ${seed})`, async () => {
  const document = await readOpenApi(api)
  const operations = operationsOf(document)
  const actors = [await anActorWithPast(api, 10), await anActorWithPast(api, 1_005), await anActorWithPast(api, 10)]
  const check = createAnswerCheck(document)
  const send = createSender(api.url)
  const errors: string[] = []
  const statuses = new Map<string, number>()
  let next = 0
  const work = async () => {
    for (let index = next++; index < count && errors.length < 10; index = next++) {
      const random = createRandom(seed * 1_000_003 + index)
      const operation = random.pick(operations)
      const actor = isFinal(operation) ? await anActor(api) : random.pick(actors)
      await prepare(operation, actor)
      const request = generateRequest(operation, actor, random.pick(actors), random)
      const answer = await send(request).catch(error => ({ status: 599, headers: {}, text: String(error) }))
      if (request.authenticated) learn(actor, answer.text)
      const error = check(request, answer)
      const { method, path, headers, body } = request
      if (error)
        errors.push(
          `#${index} ${error}: ${JSON.stringify({ method, path, headers, body: body?.slice(0, 2000) })} -> ${answer.status} ${answer.text.slice(0, 2000)}`,
        )
      const name = `${request.operation?.method} ${request.operation?.path} ${answer.status}`
      statuses.set(name, (statuses.get(name) ?? 0) + 1)
    }
  }
  const before = process.cpuUsage()
  await Promise.all(Array.from({ length: atATime }, work))
  const { user, system } = process.cpuUsage(before)
  if (process.env.FUZZ_REPORT)
    console.log(
      `${(user + system) / 1e6} s of CPU time\n` +
        [...statuses]
          .sort()
          .map(([name, n]) => `${n}\t${name}`)
          .join('\n'),
    )
  expect(errors).toEqual([])
  if (count < 20_000) return // callers know too few ids yet
  // Most operations succeeded, and often. No caller is an operator, or has the token of a mail, a passkey, an issuer or a job.
  const good = [...statuses].filter(([name]) => / 2\d\d$/.test(name))
  expect(good.reduce((total, [, n]) => total + n, 0)).toBeGreaterThan(0.4 * count)
  const isClosed =
    /^\/api\/v1\/operator\/|\/(confirm|accept|password\/reset)$|auth\/(login\/|factors\/|token-exchange|oidc\/(start|callback))/
  const ofUsers = operations.filter(({ path }) => !isClosed.test(path))
  const names = new Set(ofUsers.map(({ method, path }) => `${method} ${path}`))
  const neverGood = [...names].filter(name => !good.some(([known]) => known.startsWith(`${name} `)))
  expect(neverGood.length, neverGood.join(', ')).toBeLessThan(0.1 * names.size)
}, 900_000)
