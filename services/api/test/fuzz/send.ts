import { Agent, request as call } from 'node:http'
import type { FuzzAnswer } from './check-answer.ts'
import type { FuzzRequest } from './generate-request.ts'

const timeoutMs = 60_000

/** Makes a sender with persistent connections: for thousands of requests, `fetch` would be most of the work. */
export function createSender(origin: string): (request: FuzzRequest) => Promise<FuzzAnswer> {
  const agent = new Agent({ keepAlive: true })
  return ({ method, path, headers, body }) =>
    new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }
      const request = call(origin + path, { agent, method, headers: { ...headers, ...length }, timeout: timeoutMs })
      request.once('error', reject)
      request.once('timeout', () => request.destroy(new Error('No answer came.')))
      request.once('response', response => {
        const status = response.statusCode ?? 0
        if (response.headers['content-type']?.startsWith('text/event-stream')) {
          request.destroy()
          resolve({ status, headers: response.headers, text: '' })
          return
        }
        let text = ''
        response.setEncoding('utf8').on('data', piece => {
          text += piece
        })
        response.once('end', () => resolve({ status, headers: response.headers, text }))
      })
      request.end(body)
    })
}
