import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { LocalRequest } from './local-request.ts'

export type LocalAnswer = { status: number; durationMs: number } | { error: string; durationMs: number }

/** Sends a request to a program on this machine. Resolves even when there is no response. */
export function sendLocalRequest(local: LocalRequest, timeoutMs: number, signal: AbortSignal): Promise<LocalAnswer> {
  const { url, method, headers, body } = local
  const started = performance.now()
  const took = () => Math.round(performance.now() - started)
  const length = body === null ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest
  return new Promise(resolve => {
    const fail = (error: Error) => resolve({ error: error.message, durationMs: took() })
    const options = { method, headers: { ...headers, ...length }, signal, agent: false, timeout: timeoutMs } as const
    const outgoing = send(url, options, answer => {
      answer.resume()
      answer.once('end', () => resolve({ status: answer.statusCode ?? 0, durationMs: took() }))
      answer.once('error', fail)
    })
    outgoing.once('timeout', () => outgoing.destroy(new Error(`no response within ${timeoutMs} ms`)))
    outgoing.once('error', fail)
    outgoing.end(body ?? undefined)
  })
}
