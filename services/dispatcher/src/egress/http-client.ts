import axios, { type AxiosInstance, type CreateAxiosDefaults } from 'axios'
import type { Connect } from './connect.ts'
import { createUndiciAdapter } from './undici-adapter.ts'

/** What holds for every HTTP request that leaves Belfry. A request adds its URL, method, headers, body and timeout. */
export const httpPolicy: CreateAxiosDefaults = {
  // Where a redirect leads to was never judged, so it is an outcome like any other.
  maxRedirects: 0,
  // No proxy of the environment. EGRESS_PROXY_URL is dialled where connections are opened.
  proxy: false,
  // Every status is an outcome.
  validateStatus: null,
  // What was signed is what is sent, and what was received is what is kept.
  transformRequest: [],
  transformResponse: [],
  decompress: false,
  // Bytes of a response's body that are read and kept.
  maxContentLength: 64 * 1024,
}

export type HttpClient = {
  request: AxiosInstance['request']
  /** Closes all connections, also those in use, and lets none be opened again. */
  close(): Promise<void>
}

/** Opens the one HTTP client: axios, with a transport over undici. */
export function createHttpClient(connect: Connect): HttpClient {
  const { adapter, close } = createUndiciAdapter(connect)
  const client = axios.create({ ...httpPolicy, adapter })
  // axios adds defaults of its own: an Accept header, JSON, XSRF cookies. They would be copied for each request.
  for (const name of Object.keys(client.defaults)) {
    if (name !== 'adapter' && !(name in httpPolicy)) Reflect.deleteProperty(client.defaults, name)
  }
  return { request: client.request, close }
}
