import type { Request, Response } from 'express'
import type { WorkspaceCaller } from '../auth/authorize.ts'
import type { Context } from '../context.ts'
import { readBytes } from '../http/read-body.ts'
import { badRequest } from './qstash-error.ts'

/** A request of the QStash interface whose caller may make it. */
export type Call = {
  ctx: Context
  caller: WorkspaceCaller
  request: Request
  response: Response
  /** The variable parts of the path: decoded, except for a destination. */
  params: readonly string[]
  query: URLSearchParams
}

const maxBodyBytes = 1024 * 1024

/** Reads the body of a request. */
export function readBody({ request, response }: Call, maxBytes = maxBodyBytes): Promise<Buffer> {
  return readBytes(request, response, maxBytes)
}

/** Reads a JSON body. */
export async function readJson(call: Call, maxBytes = maxBodyBytes): Promise<unknown> {
  const text = (await readBody(call, maxBytes)).toString()
  try {
    return JSON.parse(text)
  } catch {
    throw badRequest('the body is not valid JSON')
  }
}

/**
 * Returns the filters of a request that acts on many objects: those of its query, and the members of a JSON body, which some
 * clients send instead.
 */
export async function readFilters(call: Call): Promise<URLSearchParams> {
  const { headers } = call.request
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
  const filters = new URLSearchParams(call.query)
  const body = hasBody ? await readJson(call) : {}
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw badRequest('the body is not a JSON object')
  for (const [name, value] of Object.entries(body)) {
    const values = [value].flat()
    // No value would mean no filter.
    if (values.length === 0) throw badRequest(`${name} is an empty list`)
    for (const one of values) filters.append(name, String(one))
  }
  return filters
}

/** Returns the headers of a request as texts. */
export function headersOf({ request }: Call): Record<string, string> {
  const entries = Object.entries(request.headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as const],
  )
  return Object.fromEntries(entries)
}
