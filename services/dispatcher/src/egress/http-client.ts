import axios, {
  type AxiosAdapter,
  AxiosHeaders,
  type AxiosInstance,
  type AxiosResponse,
  type CreateAxiosDefaults,
} from 'axios'
import type { Connect } from './connect.ts'
import type { ResponseOutcome } from './outcome.ts'
import { createUndiciAdapter, type WriteGate } from './undici-adapter.ts'

/** The policy of every HTTP request that leaves Belfry. A request adds its URL, method, headers, body and timeout. */
const httpPolicy = {
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
} satisfies CreateAxiosDefaults

/** A request. The header lines are names and values, alternating. */
export type HttpRequest = {
  url: string
  method: string
  headerLines: string[]
  data: Buffer | string | null
  timeout: number
  gate: WriteGate | null
}

export type HttpClient = {
  axios: AxiosInstance
  /** Makes a request by the policy. The instance of axios takes part when it has an interceptor. */
  request(request: HttpRequest): Promise<AxiosResponse<ResponseOutcome>>
  /** Closes all connections, including those in use. No connection is opened after that. */
  close(): Promise<void>
}

/** Opens the one HTTP client: axios, with a transport over undici. */
export function createHttpClient(connect: Connect): HttpClient {
  const { adapter, close } = createUndiciAdapter(connect)
  const client = axios.create({ adapter, ...httpPolicy })
  // axios has defaults of its own, such as an Accept header, JSON and XSRF cookies. It would copy them for each request.
  for (const name of Object.keys(client.defaults)) {
    if (name !== 'adapter' && !(name in httpPolicy)) Reflect.deleteProperty(client.defaults, name)
  }
  const send = axios.getAdapter(client.defaults.adapter) as AxiosAdapter
  const { request: ofRequests, response: ofResponses } = client.interceptors
  const headers = new AxiosHeaders()
  return {
    axios: client,
    // Merging the defaults and walking the interceptors takes 20 µs, a tenth of a delivery.
    request({ url, method, headerLines, data, timeout, gate }) {
      if (ofRequests.handlers?.length || ofResponses.handlers?.length)
        return client.request({ url, method, headerLines, data, timeout, gate })
      const { maxRedirects, proxy, maxContentLength } = httpPolicy
      return send({ url, method, headerLines, data, timeout, gate, headers, maxRedirects, proxy, maxContentLength })
    },
    close,
  }
}
