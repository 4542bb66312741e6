import { toCamel } from './case.ts'
import { type ApiError, toApiError } from './errors.ts'

/** The JSON of an answer, in camelCase; undefined when there is nothing to answer (204). */
export async function readJson<T>(response: Response): Promise<T> {
  const text = await response.text()
  const body = parsed(text)
  if (body === undefined && response.status !== 204) {
    const detail = 'The answer is not JSON. Does baseUrl name Belfry itself?'
    throw problemOf(response, { code: 'invalid_answer', detail }, text)
  }
  return toCamel(body) as T // the shape that the API documents
}

/** What a refusal says. What stands before the API may answer with a page of its own. */
export async function readProblem(response: Response): Promise<ApiError> {
  if (response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400)) {
    const detail = 'The answer is a redirect, which is not followed with a key. Make baseUrl the address it leads to.'
    return problemOf(response, { code: 'redirected', detail }, '')
  }
  const text = await response.text()
  const body = parsed(text)
  return problemOf(response, body !== null && typeof body === 'object' ? { ...body } : {}, body ?? text)
}

function problemOf(response: Response, problem: Record<string, unknown>, body: unknown): ApiError {
  const own = (name: string) => (typeof problem[name] === 'string' ? problem[name] : undefined)
  return toApiError({
    status: response.status,
    code: own('code') ?? `http_${response.status}`,
    detail: own('detail') ?? `The server answered ${response.status} ${response.statusText}`.trim(),
    requestId: own('request_id') ?? response.headers.get('x-request-id'),
    errors: Array.isArray(problem.errors) ? problem.errors : [],
    body,
    headers: response.headers,
  })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // not JSON: the text itself is all there is
  }
}
