import { expect, it } from 'vitest'
import { useApi } from './setup.ts'

const api = useApi(() => ({ PUBLIC_URL: 'http://belfry.example.com' }))

it('calls of the tools stay within the process, with every PUBLIC_URL', async () => {
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_tasks', arguments: { limit: 1 } } }
  const headers = { 'X-Api-Key': api.caller.apiKey, Accept: 'application/json, text/event-stream' }
  const { status, text } = await api.send('POST', '/mcp', call, headers)
  expect(status).toBe(200)
  const { result } = JSON.parse(text.replace(/^[\s\S]*?data: /, ''))
  expect(result.isError).toBeUndefined()
  expect(JSON.parse(result.content[0].text)).toEqual([])
})
