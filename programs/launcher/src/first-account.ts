import { randomBytes } from 'node:crypto'
import { call, created, expectCreated } from './call-api.ts'
import { readJson, writeJson } from './json-file.ts'

/** The first user of a new installation, and the key of its workspace. */
export type Account = { email: string; password: string; apiKey: string }

/** The workspace of a key, and the secret that signs its calls. */
export type Workspace = { id: string; signingSecret: string }

/** Returns the account of the last start when its key is still valid, and creates a new account otherwise. */
export async function ensureAccount(path: string, url: string): Promise<Account> {
  const kept = readJson(path)
  if (isAccount(kept) && (await opens(url, kept.apiKey))) return kept
  const account = await makeAccount(url)
  writeJson(path, account)
  return account
}

/** Returns the workspace of an API key. */
export async function readWorkspace(url: string, apiKey: string): Promise<Workspace> {
  const path = '/api/v1/workspaces/current/signing-secrets'
  const { status, text } = await call(url, 'GET', path, { 'x-api-key': apiKey })
  if (status !== 200) throw new Error(`GET ${path} failed with ${status}: ${text}`)
  const [current] = (JSON.parse(text) as { data: Array<{ workspace_id: string; secret: string }> }).data // the API's list
  if (!current) throw new Error(`GET ${path} returned no secret.`)
  return { id: current.workspace_id, signingSecret: current.secret }
}

async function opens(url: string, apiKey: string): Promise<boolean> {
  const { status } = await call(url, 'GET', '/api/v1/scheduler/tasks', { 'x-api-key': apiKey })
  if (status === 200) return true
  // Other errors mean nothing about the key.
  if (status === 401 || status === 403) return false
  throw new Error(`GET /api/v1/scheduler/tasks failed with ${status}.`)
}

async function makeAccount(url: string): Promise<Account> {
  const { email, password, token } = await register(url)
  const session = { authorization: `Bearer ${token}` }
  const create = async (path: string, name: string) => (await expectCreated(url, path, { name }, session)) as Created
  const organization = await create('/api/v1/organizations', 'My organization')
  const workspace = await create(`/api/v1/organizations/${organization.id}/workspaces`, 'My workspace')
  const key = await create(`/api/v1/workspaces/${workspace.id}/api-keys`, 'First key')
  return { email, password, apiKey: key.key }
}

async function register(url: string): Promise<{ email: string; password: string; token: string }> {
  const path = '/api/v1/auth/register'
  const password = randomBytes(12).toString('base64url')
  const name = 'Admin'
  const preferred = 'admin@belfry.local'
  const first = await call(url, 'POST', path, {}, { email: preferred, password, name })
  if (first.status !== 409) return { email: preferred, password, token: (created(path, first) as Created).token }
  const email = `admin-${randomBytes(4).toString('hex')}@belfry.local`
  return { email, password, token: ((await expectCreated(url, path, { email, password, name })) as Created).token }
}

// The responses of the API, of which each call uses a part.
type Created = { id: string; key: string; token: string }

function isAccount(value: unknown): value is Account {
  if (typeof value !== 'object' || value === null) return false
  const { email, password, apiKey } = value as Partial<Account> // checked field by field
  return [email, password, apiKey].every(field => typeof field === 'string')
}
