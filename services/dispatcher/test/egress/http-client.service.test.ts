import { AxiosHeaders } from 'axios'
import { afterEach, expect, it } from 'vitest'
import { createConnect } from '../../src/egress/connect.ts'
import { createHttpClient } from '../../src/egress/http-client.ts'
import { closeAll, receiverFor, whenClosing } from './setup-sender.ts'

afterEach(closeAll)

function clientFor() {
  const check = async () => [{ address: '127.0.0.1', family: 4 }]
  const client = createHttpClient(createConnect({ check }))
  whenClosing(client.close)
  return client
}

it('sends each request by the declared policy, without the defaults of axios', async () => {
  const receiver = await receiverFor()
  const headerLines = ['constructor', 'a', 'GET', 'b', 'getContentType', 'c']
  const request = { url: receiver.url('/'), method: 'POST', headerLines, data: '{"a": 1}', timeout: 5_000 }
  const { config } = await clientFor().request(request)
  expect({ ...config }).toEqual({
    ...{ ...request, method: 'post', headers: expect.any(AxiosHeaders), adapter: expect.any(Function) },
    ...{ maxRedirects: 0, proxy: false, validateStatus: null, decompress: false, maxContentLength: 65_536 },
    ...{ transformRequest: [], transformResponse: [], allowAbsoluteUrls: true },
  })
  const [received] = receiver.requests
  expect(received?.body.toString()).toBe('{"a": 1}')
  const ofConnection = ['host', new URL(request.url).host, 'connection', 'keep-alive', 'content-length', '8']
  expect(received?.rawHeaders).toHaveLength(headerLines.length + ofConnection.length)
  expect(received?.rawHeaders).toEqual(expect.arrayContaining([...headerLines, ...ofConnection]))
})

it.each([{ maxRedirects: 1 }, { proxy: { host: '127.0.0.1', port: 1 } }])(
  'refuses a request that asks for %j',
  async more => {
    const receiver = await receiverFor()
    const request = { url: receiver.url('/'), method: 'GET', headerLines: [], data: null, timeout: 5_000, ...more }
    await expect(clientFor().request(request)).rejects.toThrow('neither redirects nor proxies')
    expect(receiver.requests).toEqual([])
  },
)
