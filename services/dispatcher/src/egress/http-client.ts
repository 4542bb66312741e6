import axios, { type AxiosInstance, type CreateAxiosDefaults } from 'axios'
import type { Connect } from './connect.ts'
import { createUndiciAdapter } from './undici-adapter.ts'

/** The policy of every HTTP request that leaves Belfry. A request adds its URL, method, headers, body and timeout. */
const httpPolicy: CreateAxiosDefaults = {
  // The target of a redirect was not checked, so a redirect is an outcome like any other.
  maxRedirects: 0,
  // The proxy variables of the environment are ignored. EGRESS_PROXY_URL is used where connections are opened.
  proxy: false,
  // Every status is an outcome.
  validateStatus: null,
  // The signed bytes are sent as they are, and the received bytes are kept as they are.
  transformRequest: [],
  transformResponse: [],
  decompress: false,
  // Bytes of a response's body that are read and kept.
  maxContentLength: 64 * 1024,
}

export type HttpClient = {
  request: AxiosInstance['request']
  /** Closes all connections, including those in use. No connection is opened after that. */
  close(): Promise<void>
}

/** Opens the one HTTP client: axios, with a transport over undici. */
export function createHttpClient(connect: Connect): HttpClient {
  const { adapter, close } = createUndiciAdapter(connect)
  const client = axios.create({ ...httpPolicy, adapter })
  // axios has defaults of its own, such as an Accept header, JSON and XSRF cookies. It would copy them for each request.
  for (const name of Object.keys(client.defaults)) {
    if (name !== 'adapter' && !(name in httpPolicy)) Reflect.deleteProperty(client.defaults, name)
  }
  return { request: client.request, close }
}
