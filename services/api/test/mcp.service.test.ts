import { expect, it } from 'vitest'
import { useApi } from './setup.ts'

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

it('offers the tools in 2026-07-28 too, without a stream to listen on', async () => {
  const version = '2026-07-28'
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientInfo': { name: 'an-agent', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const ask = async (method: string, params: object = {}) => {
    const headers = { 'X-Api-Key': api.caller.apiKey, Accept: 'application/json, text/event-stream' }
    const modern = { 'MCP-Protocol-Version': version, 'Mcp-Method': method, 'Mcp-Name': 'list_runs' }
    const call = { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }
    return JSON.parse((await api.send('POST', '/mcp', call, { ...headers, ...modern })).text)
  }
  const { result: discovered } = await ask('server/discover')
  expect(discovered.supportedVersions).toEqual([version])
  const { result } = await ask('tools/call', { name: 'list_runs', arguments: {} })
  expect([result.isError, typeof result.content[0].text]).toEqual([undefined, 'string'])
  const { error } = await ask('subscriptions/listen', { notifications: { toolsListChanged: true } })
  expect(error.message).toMatch(/limit/)
})
