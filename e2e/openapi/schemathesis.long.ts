import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Answer } from '../api-calls.ts'
import { type Belfry, startBelfry } from '../belfry.ts'
import { hasPython, useVenv } from '../python.ts'

const seed = process.env.FUZZ_SEED ?? '1'
const examples = process.env.FUZZ_EXAMPLES ?? '2'

type Operation = { operationId: string; security: Array<Record<string, string[]>> }

describe.skipIf(!hasPython)('Schemathesis, which requires Python 3.10 with venv', () => {
  const venv = useVenv()
  let belfry: Belfry
  let ids: Record<string, string>
  let operations: Operation[]

  beforeAll(async () => {
    await venv.pip(['install', '--requirement', join(import.meta.dirname, 'requirements.txt')])
  }, 180_000)
  beforeAll(async () => {
    // One session makes more calls in a second than its limit allows.
    belfry = await startBelfry('postgres', { services: ['api'], env: { RATE_LIMITS: 'off' } })
    ids = await createObjects(belfry)
    const { paths } = (await belfry.call('GET', '/api/openapi.json')).body
    operations = Object.values<Record<string, Operation>>(paths).flatMap(methods => Object.values(methods))
  })
  afterAll(() => belfry?.close())

  it.concurrent('gets for an API key what the OpenAPI document promises', () =>
    fuzz(operations.filter(takesKey), { 'X-Api-Key': String(belfry.caller.apiKey) }))

  it.concurrent('gets for a session what the OpenAPI document promises, where an API key has no right', () =>
    fuzz(
      operations.filter(operation => !takesKey(operation)),
      { Authorization: `Bearer ${belfry.caller.token}` },
    ))

  // Rejects with the report unless each answer is as documented.
  async function fuzz(chosen: Operation[], headers: Record<string, string>): Promise<void> {
    const args = [
      ...['--config-file', join(import.meta.dirname, 'schemathesis.toml')],
      ...['run', `${belfry.url}/api/openapi.json`, '--url', belfry.url],
      ...['--phases', 'examples,coverage,fuzzing', '--max-examples', examples, '--seed', seed],
      ...['--warnings', 'off', '--output-sanitize', 'false'],
      ...chosen.flatMap(({ operationId }) => ['--include-operation-id', operationId]),
      ...Object.entries(headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`]),
    ]
    await venv.run('schemathesis', args, { env: { ...process.env, ...ids } })
  }
})

function takesKey({ security }: Operation): boolean {
  return security.some(scheme => 'apiKey' in scheme)
}

async function createObjects(belfry: Belfry): Promise<Record<string, string>> {
  const { workspaceId, organizationId } = belfry.caller
  const url = 'https://example.com/hook'
  const create = async (path: string, body: object) => idOf(await belfry.call('POST', path, body))
  return {
    ORGANIZATION_ID: String(organizationId),
    WORKSPACE_ID: String(workspaceId),
    CRON_JOB_ID: await create('/api/v1/scheduler/cronjobs', { name: 'A', url, method: 'POST', cron: '0 0 1 1 *' }),
    SUBSCRIPTION_ID: await create('/api/v1/scheduler/subscriptions', { topic: 'orders.*', url }),
    INTEGRATION_ID: await create(`/api/v1/workspaces/${workspaceId}/integrations`, {
      ...{ name: 'A', channel: 'webhook', events: ['task.dead'], url },
    }),
  }
}

function idOf({ status, body }: Answer): string {
  expect(status).toBe(201)
  return body.id
}
