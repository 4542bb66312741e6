import { expect, it } from 'vitest'
import { createAnswerCheck } from './fuzz/check-answer.ts'
import { generateRequest, type Operation, type World } from './fuzz/generate-request.ts'
import { createRandom } from './fuzz/random.ts'
import { createSender } from './fuzz/send.ts'
import { type Json, useApi } from './setup.ts'

const seed = Number(process.env.FUZZ_SEED ?? 1)
const count = Number(process.env.FUZZ_REQUESTS ?? 20_000)
const atATime = 24
const mostKnownIds = 50
// Hashing a password takes as long as a hundred other requests, and the documents are long and always the same.
const slow = /auth\/(register|login|password)|openapi|docs/
// What ends a caller's session, or the workspace that the session is used in.
const ending = /^(POST .*\/logout|DELETE \/api\/v1\/(organizations\/\{org\}|workspaces\/\{ws\}))$/

const api = useApi()

function operationsOf(document: Json): Operation[] {
  const all = Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).map(([method, description]) => ({ path, method: method.toUpperCase(), description })),
  )
  return all.flatMap(operation => Array.from({ length: slow.test(operation.path) ? 1 : 12 }, () => operation))
}

// What an answer names can be asked for.
function learnIds({ ids }: World, text: string): void {
  for (const [id, kind = ''] of text.matchAll(/\b(task|cron|evt|run|key|sec|inv|int|sub|user)_[0-9a-z]{26}\b/g)) {
    const known = ids.get(kind) ?? ids.set(kind, []).get(kind) ?? []
    if (!known.includes(id)) known.push(id)
    if (known.length > mostKnownIds) known.shift()
  }
}

it(`keeps every promise of the OpenAPI document in ${count} requests (seed ${seed})`, async () => {
  const { body: document } = await api.send('GET', '/api/openapi.json')
  const callers = await Promise.all(Array.from({ length: 2 }, () => api.signUp()))
  const world: World = { operations: operationsOf(document), callers, ids: new Map() }
  const check = createAnswerCheck(document)
  const send = createSender(api.url)
  const faults: string[] = []
  const statuses = new Map<string, number>()
  let next = 0
  const work = async () => {
    for (let index = next++; index < count && faults.length < 10; index = next++) {
      const request = generateRequest(world, createRandom(seed * 1_000_003 + index))
      const answer = await send(request).catch(error => ({ status: 599, headers: {}, text: String(error) }))
      learnIds(world, answer.text)
      const fault = check(request, answer)
      const { method, path, headers, body } = request
      if (fault)
        faults.push(
          `#${index} ${fault}: ${JSON.stringify({ method, path, headers, body: body?.slice(0, 2000) })} -> ${answer.status} ${answer.text.slice(0, 2000)}`,
        )
      // Or all that follows would be refused, and prove little.
      if (answer.status === 204 && ending.test(`${request.operation?.method} ${request.operation?.path}`)) {
        callers.splice(0, callers.length, ...(await Promise.all(callers.map(() => api.signUp()))))
      }
      const name = `${request.operation?.method} ${request.operation?.path} ${answer.status}`
      statuses.set(name, (statuses.get(name) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: atATime }, work))
  if (process.env.FUZZ_REPORT)
    console.log(
      [...statuses]
        .sort()
        .map(([name, n]) => `${n}\t${name}`)
        .join('\n'),
    )
  expect(faults).toEqual([])
  // Most of it got past the front door.
  const good = [...statuses].filter(([name]) => / 2\d\d$/.test(name)).map(([name]) => name.replace(/ \d+$/, ''))
  expect(new Set(good).size).toBeGreaterThan(0.5 * new Set(world.operations).size)
}, 900_000)
