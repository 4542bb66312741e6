import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { useApi } from './setup.ts'

const api = useApi({ PUBLIC_URL: 'https://belfry.test', ALLOWED_HOSTS: 'belfry.internal, [fd00::1]' })

/** Sends a request with a `Host` of its own, which `fetch` cannot. Returns the status line and the body. */
function get(path: string, host: string): Promise<string> {
  const { hostname, port } = new URL(api.url)
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(Number(port), hostname, () => {
      socket.end(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
    })
    socket.on('data', chunk => {
      text += chunk
    })
    socket.on('end', () => resolve(text))
    socket.on('error', reject)
  })
}

it.each([
  'belfry.test',
  'BELFRY.test:443',
  'belfry.test.',
  'belfry.internal:3000',
  '[fd00::1]:3000',
  'localhost',
  '127.0.0.1:3000',
  '[::1]:3000',
])('answers requests for %s', async host => {
  expect(await get('/api/openapi.json', host)).toMatch(/^HTTP\/1\.1 200 /)
})

it.each([
  'rebind.example',
  'rebind.example:3000',
  'belfry.test.evil.example',
  'localhost.evil.example',
  '127.0.0.1.evil.example',
  '192.168.1.5',
  'evil.example@belfry.test',
  'belfry.test,evil.example',
  '',
])('refuses every request for %j', async host => {
  for (const path of ['/api/v1/auth/me', '/', '/admin/queues', '/api/none']) {
    const answer = await get(path, host)
    expect(answer).toMatch(/^HTTP\/1\.1 421 /)
    expect(answer).toContain('"code":"misdirected_request"')
  }
})

it.each(['/healthz', '/readyz'])('answers %s for the address of a pod', async path => {
  expect(await get(path, '10.1.2.3:3000')).toMatch(/^HTTP\/1\.1 200 /)
})

it('says only whether it is ready to strangers', async () => {
  expect(await get('/readyz', 'belfry.test')).toMatch(/\r\n\r\n\{"ready":true\}$/)
})
