import { toCamel, toCamelPath } from './case.ts'
import { type ApiError, type FieldError, toApiError } from './errors.ts'
import { parseJson } from './exact-json.ts'

/** Returns the JSON of a response in camelCase; undefined for 204. */
export async function readJson<T>(response: Response, request: string): Promise<T> {
  return toCamel(await readRawJson(response, request)) as T // the shape that the API documents
}

/** Returns the JSON of a response with the names of the HTTP API; undefined for 204. */
export async function readRawJson<T>(response: Response, request: string): Promise<T> {
  const text = await response.text()
  const body = parsed(text)
  if (body === undefined && response.status !== 204) {
    const detail = 'The response is not JSON. Is baseUrl the URL of Belfry?'
    throw problemOf(response, request, { code: 'invalid_answer', detail }, text)
  }
  return body as T
}

/** Returns the error of a response. The body may be anything, e.g. the HTML page of a proxy. */
export async function readProblem(response: Response, request: string): Promise<ApiError> {
  if (response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400)) {
    const detail = 'The response is a redirect, which the client does not follow with a key. Set baseUrl to its target.'
    return problemOf(response, request, { code: 'redirected', detail }, '')
  }
  const text = await response.text()
  const body = parsed(text)
  return problemOf(response, request, body !== null && typeof body === 'object' ? { ...body } : {}, body ?? text)
}

function problemOf(response: Response, request: string, problem: Record<string, unknown>, body: unknown): ApiError {
  const own = (name: string) => (typeof problem[name] === 'string' ? problem[name] : undefined)
  return toApiError({
    status: response.status,
    code: own('code') ?? `http_${response.status}`,
    detail: own('detail') ?? `The server responded with ${response.status} ${response.statusText}`.trim(),
    requestId: own('request_id') ?? response.headers.get('x-request-id'),
    errors: Array.isArray(problem.errors) ? problem.errors.map(withOwnNames) : [],
    body,
    headers: response.headers,
    request,
  })
}

// A message begins with the path of its field.
function withOwnNames(error: FieldError): FieldError {
  const path = toCamelPath(error.path)
  const { message } = error
  return { ...error, path, message: message.startsWith(error.path) ? path + message.slice(error.path.length) : message }
}

function parsed(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return undefined // not JSON, so only its text is available
  }
}
