import { Agent as HttpAgent } from 'node:http'
import axios from 'axios'
import { Agent, request } from 'undici'

/** One call as a worker written by hand makes it: the answer is read to its end. */
export type Caller = (call: { url: string; body: string }) => Promise<{ status: number; body: string }>

/** Makes calls with kept-alive connections, as many as there are calls at once. */
export function createCaller(client: 'undici' | 'axios', concurrency: number): Caller {
  const headers = { 'content-type': 'application/json' }
  if (client === 'axios') {
    const http = axios.create({
      httpAgent: new HttpAgent({ keepAlive: true, maxSockets: concurrency }),
      maxRedirects: 0,
      responseType: 'text',
      transformResponse: [],
    })
    return async ({ url, body }) => {
      const answer = await http.post<string>(url, body, { headers })
      return { status: answer.status, body: answer.data }
    }
  }
  const dispatcher = new Agent({ connections: concurrency, pipelining: 1, keepAliveTimeout: 30_000 })
  return async ({ url, body }) => {
    const answer = await request(url, { method: 'POST', headers, body, dispatcher })
    return { status: answer.statusCode, body: await answer.body.text() }
  }
}
