import { AxiosHeaders } from 'axios'
import { afterEach, expect, it } from 'vitest'
import { createConnect } from '../../src/egress/connect.ts'
import { createHttpClient } from '../../src/egress/send.ts'
import { closeAll, receiverFor, whenClosing } from './setup-sender.ts'

afterEach(closeAll)

function clientFor() {
  const check = async () => [{ address: '127.0.0.1', family: 4 }]
  const client = createHttpClient(createConnect({ check }))
  whenClosing(client.close)
  return client
}

const policy = { maxRedirects: 0, proxy: false, maxContentLength: 65_536 }

it('sends each request by the declared policy, without the defaults of axios', async () => {
  const receiver = await receiverFor()
  const headerLines = ['constructor', 'a', 'GET', 'b', 'getContentType', 'c']
  const request = { url: receiver.url('/'), method: 'POST', headerLines, data: '{"a": 1}', timeout: 5_000, gate: null }
  const client = clientFor()
  const { config } = await client.request(request)
  expect({ ...config }).toEqual({ ...request, ...policy, headers: expect.any(AxiosHeaders) })
  const { config: ofAxios } = await client.axios.request(request)
  expect({ ...ofAxios }).toEqual({
    ...{ ...request, method: 'post', headers: expect.any(AxiosHeaders), adapter: expect.any(Function) },
    ...{ ...policy, validateStatus: null, decompress: false },
    ...{ transformRequest: [], transformResponse: [], allowAbsoluteUrls: true },
  })
  for (const received of receiver.requests) {
    expect(received.body.toString()).toBe('{"a": 1}')
    const ofConnection = ['host', new URL(request.url).host, 'connection', 'keep-alive', 'content-length', '8']
    expect(received.rawHeaders).toHaveLength(headerLines.length + ofConnection.length)
    expect(received.rawHeaders).toEqual(expect.arrayContaining([...headerLines, ...ofConnection]))
  }
  expect(receiver.requests).toHaveLength(2)
})

it('obeys the interceptors of axios', async () => {
  const receiver = await receiverFor()
  const client = clientFor()
  client.axios.interceptors.request.use(config => Object.assign(config, { headerLines: ['X-Added', '1'] }))
  await client.request({
    url: receiver.url('/'),
    method: 'GET',
    headerLines: [],
    data: null,
    timeout: 5_000,
    gate: null,
  })
  expect(receiver.requests[0]?.rawHeaders).toEqual(expect.arrayContaining(['X-Added', '1']))
})

it.each([{ maxRedirects: 1 }, { proxy: { host: '127.0.0.1', port: 1 } }])(
  'refuses a request that asks for %j',
  async more => {
    const receiver = await receiverFor()
    const request = { url: receiver.url('/'), method: 'GET', headerLines: [], data: null, timeout: 5_000, ...more }
    await expect(clientFor().axios.request(request)).rejects.toThrow('neither redirects nor proxies')
    expect(receiver.requests).toEqual([])
  },
)
