import { fromId } from '@belfry/domain/id'
import { depthHeaders } from '@belfry/vault'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { expect, it } from 'vitest'
import { storeRuns } from './run-rows.ts'
import { aTaskBody, type Json, useApi } from './setup.ts'

const api = useApi(() => ({ PUBLIC_URL: 'http://belfry.example.com' }))

it('calls of the tools stay within the process, with every PUBLIC_URL', async () => {
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_tasks', arguments: { limit: 1 } } }
  const { apiKey } = await api.signUp() // other tests here create tasks
  const headers = { 'X-Api-Key': apiKey, Accept: 'application/json, text/event-stream' }
  const { status, text } = await api.send('POST', '/mcp', call, headers)
  expect(status).toBe(200)
  const { result } = JSON.parse(text.replace(/^[\s\S]*?data: /, ''))
  expect(result.isError).toBeUndefined()
  expect(JSON.parse(result.content[0].text)).toEqual([])
})

it.each([
  ['more than 256 KiB', { name: 'list_tasks', arguments: { name: 'x'.repeat(300_000) } }, 413],
  [
    'a list of a hundred thousand wrong items',
    { name: 'list_tasks', arguments: { state: Array(100_000).fill(1) } },
    400,
  ],
  [
    'thousands of arguments',
    { name: 'list_tasks', arguments: Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`a${i}`, 1])) },
    400,
  ],
])('refuses a message with %s before a tool reads it', async (_, params, status) => {
  const headers = { 'X-Api-Key': api.caller.apiKey, Accept: 'application/json, text/event-stream' }
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
  expect(await api.send('POST', '/mcp', call, headers)).toMatchObject({ status })
})

it('takes one message in each request, and payloads with many members', async () => {
  const headers = { 'X-Api-Key': api.caller.apiKey, Accept: 'application/json, text/event-stream' }
  const payload = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`key${i}`, i]))
  const params = { name: 'schedule_task', arguments: { url: 'https://example.com/', payload, after: '1h' } }
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
  const { text } = await api.send('POST', '/mcp', call, headers)
  expect(JSON.parse(text).result.isError).toBeUndefined()
  expect(await api.send('POST', '/mcp', [call, call], headers)).toMatchObject({
    status: 400,
    body: { detail: 'Send one message in each request.' },
  })
})

it('a tool creates nothing for a call of Belfry that is the sixth in a row', async () => {
  const depth = depthHeaders(api.ctx.config.masterKeys)
  const params = { name: 'schedule_task', arguments: { url: 'https://example.com/', after: '1h' } }
  const schedule = async (value = '') => {
    const headers = {
      'X-Api-Key': api.caller.apiKey,
      Accept: 'application/json, text/event-stream',
      'X-Belfry-Depth': value,
    }
    return (await api.send('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, headers)).text
  }
  expect(await schedule(depth.at(-1))).toContain('calls in a row of the same kind')
  expect(JSON.parse(await schedule(depth[0])).result.isError).toBeUndefined()
})

it.each([
  ['list_tasks', { name: '', label: '', cronjob_id: '' }],
  ['list_cron_jobs', { name: '' }],
  ['list_runs', { task_id: '', host: '' }],
])('%s takes an empty text for no filter, as models write it', async (name, given) => {
  const headers = { 'X-Api-Key': api.caller.apiKey, Accept: 'application/json, text/event-stream' }
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } }
  const { result } = JSON.parse((await api.send('POST', '/mcp', call, headers)).text)
  expect([result.isError, typeof result.content[0].text]).toEqual([undefined, 'string'])
})

// Sends requests of MCP in a revision, in which 2026-07-28 has no session.
function connect(version: string, caller = api.caller) {
  const accept = { 'X-Api-Key': caller.apiKey, Accept: 'application/json, text/event-stream' }
  const isModern = version === '2026-07-28'
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientInfo': { name: 'an-agent', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  return async (method: string, params: Json = {}): Promise<Json> => {
    const named = { 'Mcp-Method': method, ...(params.name ? { 'Mcp-Name': params.name } : {}) }
    const headers = { ...accept, 'MCP-Protocol-Version': version, ...(isModern ? named : {}) }
    const call = { jsonrpc: '2.0', id: 1, method, params: isModern ? { ...params, _meta } : params }
    return JSON.parse((await api.send('POST', '/mcp', call, headers)).text)
  }
}

it.each(['2025-11-25', '2026-07-28'])('every tool answers %s as its output schema says', async version => {
  const caller = await api.signUp()
  const ask = connect(version, caller)
  const { tools } = (await ask('tools/list')).result
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  formats.default(ajv)
  const results: Record<string, Json> = {}
  const use = async (name: string, given: Json = {}) => {
    const { outputSchema } = tools.find((tool: Json) => tool.name === name)
    expect([name, outputSchema.type]).toEqual([name, 'object'])
    const { result } = await ask('tools/call', { name, arguments: given })
    expect([name, result.isError]).toEqual([name, undefined])
    const validate = ajv.compile(outputSchema)
    const undeclared = Object.keys(result.structuredContent).filter(member => !(member in outputSchema.properties))
    expect([name, validate(result.structuredContent), validate.errors, undeclared]).toEqual([name, true, null, []])
    const written = JSON.parse(result.content[0].text)
    if (Array.isArray(written)) expect(result.structuredContent).toEqual({ data: written })
    else expect(Object.keys(result.structuredContent)).toEqual(Object.keys(written))
    results[name] = result.structuredContent
    return result.structuredContent
  }
  const request = { url: 'https://example.com/', payload_json: '{"order":12345678901234567890}', retry_delays_ms: [0] }
  const task = await use('schedule_task', { ...request, after: '1h', labels: ['customer:42'] })
  expect(task.payload).toEqual({ order: '12345678901234567890' })
  const job = await use('create_cron_job', { ...request, cron: '0 9 * * 1-5', timezone: 'Europe/Berlin' })
  await use('preview_cron', { cron: '0 9 * * 1-5' })
  await use('list_cron_jobs')
  await use('pause_cron_job', { cronjob_id: job.id })
  await use('resume_cron_job', { cronjob_id: job.id })
  await use('explain_task', { task_id: task.id })
  const run = { taskId: String(fromId('task', task.id)), workspaceId: String(fromId('ws', caller.workspaceId)) }
  await storeRuns(api.db, [run, { ...run, status: 'failed', responseStatus: null }])
  await use('list_runs')
  await use('explain_task', { task_id: task.id })
  await use('list_tasks')
  await use('cancel_task', { task_id: task.id })
  await api.db.query("UPDATE tasks SET state = 'dead', state_reason = NULL WHERE id = $1", [run.taskId])
  await use('replay_task', { task_id: task.id })
  expect(Object.keys(results).sort()).toEqual(tools.map(({ name }: Json) => name).sort())
  expect([results.list_runs.data.length, results.explain_task.runs.length]).toEqual([2, 2])
})

it('explains a task whose host is a secret, without the state of a host', async () => {
  const caller = await api.signUp()
  const secret = `/api/v1/workspaces/${caller.workspaceId}/secrets/HOST`
  await api.send('PUT', secret, { value: 'hooks.example.com' }, { Authorization: `Bearer ${caller.token}` })
  const body = aTaskBody({ url: 'https://{{ secrets.HOST }}/' })
  const task = (await api.send('POST', '/api/v1/scheduler/tasks', body, { 'X-Api-Key': caller.apiKey })).body
  const ask = connect('2025-11-25', caller)
  const { result } = await ask('tools/call', { name: 'explain_task', arguments: { task_id: task.id } })
  const { isError, structuredContent } = result
  expect([isError, structuredContent?.task.id, structuredContent?.host]).toEqual([undefined, task.id, undefined])
})

it('offers the tools in 2026-07-28 too, without a stream to listen on', async () => {
  const ask = connect('2026-07-28')
  const { result: discovered } = await ask('server/discover')
  expect(discovered.supportedVersions).toEqual(['2026-07-28'])
  const { result } = await ask('tools/call', { name: 'list_runs', arguments: {} })
  expect([result.isError, typeof result.content[0].text]).toEqual([undefined, 'string'])
  const { error } = await ask('subscriptions/listen', { notifications: { toolsListChanged: true } })
  expect(error.message).toMatch(/limit/)
})
