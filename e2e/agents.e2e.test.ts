import { join } from 'node:path'
import { type Receiver, startReceiver } from '@belfry/test-support'
import { waitFor } from '@belfry/test-support/wait-for'
import { Client, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { useBelfry } from './belfry.ts'
import { readPages } from './docs/read-pages.ts'
import { repositoryRoot } from './repository-root.ts'

vi.setConfig({ testTimeout: 60_000 })

const belfry = useBelfry('postgres')
let target: Receiver
beforeAll(async () => {
  target = await startReceiver()
})
afterAll(() => target?.close())

const overHttp = (headers: Record<string, string>) =>
  new StreamableHTTPClientTransport(new URL(`${belfry.url}/mcp`), { requestInit: { headers } })
const program = join(repositoryRoot(), 'programs/cli/dist/main.mjs')
const withKey = () => overHttp({ 'X-Api-Key': String(belfry.caller.apiKey), 'User-Agent': 'an-agent' })
const overPipes = () =>
  new StdioClientTransport({
    command: process.execPath,
    args: [program, 'mcp'],
    env: { PATH: String(process.env.PATH), BELFRY_URL: belfry.url, BELFRY_API_KEY: String(belfry.caller.apiKey) },
  })
const doors: Record<string, [open: () => Transport, version: string]> = {
  'POST /mcp': [withKey, '2025-11-25'],
  'POST /mcp in 2026-07-28': [withKey, '2026-07-28'],
  'belfry mcp': [overPipes, '2025-11-25'],
  'belfry mcp in 2026-07-28': [overPipes, '2026-07-28'],
}

async function connect(transport: Transport, version = '2025-11-25') {
  const mode = version === '2025-11-25' ? 'legacy' : { pin: version }
  const client = new Client({ name: 'an-agent', version: '1.0.0' }, { versionNegotiation: { mode } })
  await client.connect(transport)
  expect(client.getNegotiatedProtocolVersion()).toBe(version)
  onTestFinished(() => client.close())
  return {
    client,
    /** Calls a tool, and returns its JSON, or the text of its error. */
    async use(name: string, args: Record<string, unknown> = {}) {
      const { content, isError } = await client.callTool({ name, arguments: args })
      const { text } = (content as Array<{ text: string }>)[0] ?? { text: '' }
      return isError ? { error: text } : JSON.parse(text)
    },
  }
}

describe.each(Object.entries(doors))('%s', (kind, [transport, version]) => {
  const open = () => connect(transport(), version)

  it('lets an agent choose the delays before retries, or their number', async () => {
    const { use } = await open()
    const call = { url: target.url('/later'), after: '1h', retry_delays_ms: [0, 60_000] }
    expect((await use('schedule_task', call)).retry).toEqual({ delaysMs: [0, 60_000] })
    expect(await use('schedule_task', { ...call, max_retries: 1 })).toEqual({
      error: expect.stringMatching(/not both/),
    })
  })

  it('schedules a call at a local time in a time zone', async () => {
    const { use } = await open()
    const call = { url: target.url('/local'), at: '2090-06-01T09:00:00', timezone: 'Europe/Berlin' }
    expect(await use('schedule_task', call)).toMatchObject({
      ...{ executeAt: '2090-06-01T07:00:00.000Z', localTime: '2090-06-01T09:00:00.000+02:00' },
    })
    expect(await use('schedule_task', { url: call.url, timezone: 'UTC' })).toEqual({
      error: expect.stringContaining('with at'),
    })
  })

  it('lets an agent schedule a call, find out why it failed, and replay it', async () => {
    const { use } = await open()
    const path = `/fails-${kind.length}`
    target.answer(path, { status: 503, body: 'the shop is closed' })
    const scheduled = await use('schedule_task', {
      ...{ url: target.url(path), name: 'Confirm order 42', payload: { order: 42 }, max_retries: 0 },
    })
    expect(scheduled).toMatchObject({ name: 'Confirm order 42', method: 'POST', payload: { order: 42 } })
    const explain = () => use('explain_task', { task_id: scheduled.id })
    const explained = await waitFor(explain, ({ task }) => task.state === 'dead', 30_000)
    expect(explained).toMatchObject({
      why: 'Its only attempt failed; 0 retries were allowed. The last one: http_status, The target answered with status 503.',
      lastRequest: { method: 'POST', body: '{"order":42}' },
      lastResponse: { status: 503, body: 'the shop is closed' },
      host: { host: new URL(target.url(path)).host },
    })
    expect((await use('list_runs', { status: 'failed', task_id: scheduled.id })).length).toBe(1)
    target.answer(path, { status: 200 })
    const replay = await use('replay_task', { task_id: scheduled.id })
    const again = await waitFor(
      () => use('explain_task', { task_id: replay.id }),
      ({ task }) => task.state === 'success',
      30_000,
    )
    expect(again.why).toMatch(/^It succeeded: status 200 after \d+ ms\.$/)
    expect(target.requestsTo(path)).toHaveLength(2)
  })

  it('previews, creates, pauses and resumes a cron job, and names the agent in the audit log', async () => {
    const { use } = await open()
    const preview = await use('preview_cron', { cron: '0 9 * * 1-5', timezone: 'Europe/Berlin', count: 2 })
    expect(preview).toMatchObject({ description: 'At 09:00 on Monday through Friday' })
    expect(preview.nextRuns).toHaveLength(2)
    const name = `${kind} report`
    const job = await use('create_cron_job', { url: target.url('/report'), name, cron: '0 9 * * 1-5' })
    expect(await use('pause_cron_job', { cronjob_id: job.id })).toMatchObject({ status: 'paused' })
    expect(await use('resume_cron_job', { cronjob_id: job.id })).toMatchObject({ status: 'active' })
    expect(await use('list_cron_jobs', { name })).toMatchObject([{ id: job.id, status: 'active' }])
    const log = `/api/v1/organizations/${belfry.caller.organizationId}/audit-log?object_id=${job.id}`
    const { body } = await belfry.call('GET', log, undefined, { token: String(belfry.caller.token) })
    expect(body.data).toHaveLength(3)
    for (const entry of body.data) {
      expect(entry).toMatchObject({ address: '127.0.0.1', details: { agent: 'an-agent' } })
    }
  })

  it('reports what the API refuses as a result, and wrong arguments as well', async () => {
    const { client, use } = await open()
    expect(await use('schedule_task', { url: 'ftp://example.com' })).toMatchObject({
      error: expect.stringMatching(/^validation_failed: /),
    })
    expect(await use('schedule_task', { url: target.url('/x'), at: '2027-01-01T00:00:00Z', after: '1h' })).toEqual({
      error: 'Give at or after, not both.',
    })
    const body = { url: target.url('/x'), after: '1h' }
    expect(await use('schedule_task', { ...body, payload: { id: 2 ** 60 } })).toEqual({
      error: 'id is a number that may have lost digits. Give the body as text in payload_json.',
    })
    expect(await use('schedule_task', { ...body, payload: 1, payload_json: '1' })).toEqual({
      error: 'Give payload or payload_json, not both.',
    })
    const exact = { ...body, payload_json: '{"id":12345678901234567890, "n":1.10}' }
    const { content } = await client.callTool({ name: 'schedule_task', arguments: exact })
    expect(JSON.stringify(content)).toContain('12345678901234567890')
    expect(await use('cancel_task', { task_id: 'task_00000000000000000000000000' })).toMatchObject({
      error: expect.stringMatching(/^not_found: /),
    })
    expect(await use('list_tasks', { limit: 1_000 })).toMatchObject({ error: expect.stringMatching(/limit/) })
    const { tools } = await client.listTools()
    expect(tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint])).toEqual([
      ['list_tasks', true],
      ['list_cron_jobs', true],
      ['list_runs', true],
      ['explain_task', true],
      ['preview_cron', true],
      ['schedule_task', false],
      ['create_cron_job', false],
      ['pause_cron_job', false],
      ['resume_cron_job', false],
      ['cancel_task', false],
      ['replay_task', false],
    ])
  })
})

describe('the session in docs/agents.md', () => {
  it('goes as recorded', async () => {
    const page = readPages().find(({ path }) => path === 'docs/agents.md')
    const session = page?.blocks.find(({ text }) => text.startsWith('schedule_task'))?.text ?? ''
    const calls = [...session.matchAll(/^(\w+_task) (\{[\s\S]*?\})\n +-> ([\s\S]*?)(?:\n\n|$)/gm)]
    const { use } = await connect(withKey())
    target.answer('/confirm', { status: 503, body: 'the shop is closed' })
    const ids = new Map<string, string>()
    for (const [, tool = '', args = '', recorded = ''] of calls) {
      if (tool === 'replay_task') target.answer('/confirm', { status: 200 }) // the user opens the shop
      const { url, ...given } = JSON.parse(args)
      const input = url ? { url: target.url(new URL(url).pathname), ...given } : { task_id: ids.get(given.task_id) }
      const answer = await waitFor(
        () => use(tool, input),
        ({ task }) => !task || task.state === 'dead' || task.state === 'success',
        30_000,
      )
      const [, name] = /^\{ "id": "(task_\w+\.{3})"/.exec(recorded) ?? []
      if (name) ids.set(name, answer.id)
      const members = /"(?:why|state|replayOf|method|body|status)": (?:"(?:[^"\\]|\\.)*"|\d+)/g
      const got = JSON.stringify(answer).replaceAll(/\d+ ms/g, 'N ms')
      for (const [member] of recorded.matchAll(members)) {
        const expected = [...ids].reduce((text, [short, id]) => text.replace(short, id), member)
        expect(got).toContain(expected.replace('": ', '":').replaceAll(/\d+ ms/g, 'N ms'))
      }
    }
    expect(calls.map(([, tool]) => tool)).toEqual(['schedule_task', 'explain_task', 'replay_task', 'explain_task'])
  })
})

describe('POST /mcp', () => {
  it('accepts a session with its workspace, and refuses wrong credentials and other methods', async () => {
    const { token, workspaceId } = belfry.caller
    const session = { Authorization: `Bearer ${token}`, 'X-Workspace-Id': String(workspaceId) }
    const { use } = await connect(overHttp(session))
    expect(await use('list_tasks', { limit: 1 })).toBeInstanceOf(Array)
    const initialize = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
    for (const caller of [{}, { apiKey: 'bf_wrong' }]) {
      const refused = await belfry.call('POST', '/mcp', initialize, caller)
      expect([refused.status, refused.body.code]).toEqual([401, 'unauthenticated'])
    }
    const own = { Origin: belfry.url, 'X-Workspace-Id': String(workspaceId) }
    const cookie = { ...own, Cookie: `belfry_session=${token}` }
    const headers = { ...cookie, Accept: 'application/json, text/event-stream', 'Content-Type': 'application/json' }
    const body = JSON.stringify(initialize)
    expect((await fetch(`${belfry.url}/mcp`, { method: 'POST', headers, body })).status).toBe(401)
    const got = await belfry.call('GET', '/mcp')
    expect([got.status, got.headers.get('allow')]).toEqual([405, 'POST'])
  })
})
