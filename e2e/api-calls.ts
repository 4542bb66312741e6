import { randomBytes } from 'node:crypto'

/** A parsed body of any shape. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers whose shape they assert
type Json = any

export type Answer = { status: number; headers: Headers; text: string; body: Json }

/** Who calls: with an API key, a session, both or neither; and the `Idempotency-Key` of a call that may be repeated. */
export type Caller = {
  apiKey?: string
  token?: string
  workspaceId?: string
  organizationId?: string
  idempotencyKey?: string
}

/** Makes one call. Sends a string unchanged and other values as JSON. */
export async function callApi(
  url: string,
  caller: Caller,
  method: string,
  path: string,
  body?: unknown,
): Promise<Answer> {
  const headers: Record<string, string> = {}
  if (body !== undefined) headers['Content-Type'] = 'application/json'
  if (caller.apiKey) headers['X-Api-Key'] = caller.apiKey
  if (caller.token) headers.Authorization = `Bearer ${caller.token}`
  if (caller.idempotencyKey) headers['Idempotency-Key'] = caller.idempotencyKey
  const response = await fetch(url + path, {
    method,
    headers,
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, body: text === '' ? undefined : JSON.parse(text) }
}

/**
 * Creates a user, an organization, a workspace and an API key, as a new user would.
 * @param confirm - Confirms the user's email address. Default: it needs no confirmation.
 */
export async function signUp(url: string, confirm?: (email: string) => Promise<unknown>): Promise<Caller> {
  const password = randomBytes(12).toString('hex')
  const email = `${randomBytes(6).toString('hex')}@example.com`
  const registered = await callApi(url, {}, 'POST', '/api/v1/auth/register', { email, password, name: 'A user' })
  await confirm?.(email)
  const token = registered.body.token as string
  const organization = await callApi(url, { token }, 'POST', '/api/v1/organizations', { name: 'Acme' })
  return createWorkspace(url, { token, organizationId: organization.body.id })
}

/** Creates a workspace and an API key in an organization, as its owner. */
export async function createWorkspace(url: string, { token = '', organizationId = '' }: Caller): Promise<Caller> {
  const path = `/api/v1/organizations/${organizationId}/workspaces`
  const workspace = await callApi(url, { token }, 'POST', path, { name: 'Main' })
  const keys = `/api/v1/workspaces/${workspace.body.id}/api-keys`
  const key = await callApi(url, { token }, 'POST', keys, { name: 'Test' })
  if (key.status !== 201) throw new Error(`The API key was not created: ${key.text}`)
  return { token, apiKey: key.body.key, workspaceId: workspace.body.id, organizationId }
}

/** Returns a time from now in the format of the API. */
export function inMs(ms: number): string {
  return new Date(Date.now() + ms).toISOString()
}
