import { expect, test } from 'vitest'
import { echoLine } from './echo-receiver.ts'

const request = { method: 'POST', path: '/hello', headers: { 'webhook-id': 'task_1' }, body: '{"hello":"world"}' }
const at = new Date('2026-11-21T06:00:01.000Z')

test('shows the time, the method, the path, the id and the body', () => {
  expect(echoLine(request, at)).toMatch(/^\d\d:\d\d:01 received POST \/hello task_1 {"hello":"world"}$/)
})

test('cuts a long body after 200 characters', () => {
  expect(echoLine({ ...request, body: 'x'.repeat(201) }, at)).toMatch(/ x{200}\.\.\.$/)
  expect(echoLine({ ...request, body: 'x'.repeat(200) }, at)).toMatch(/ x{200}$/)
})

test('shows any body as one harmless line', () => {
  expect(echoLine({ ...request, headers: {}, body: 'a\nb\u001b[2J' }, at)).toMatch(/ - a\\u000ab\\u001b\[2J$/)
})
