import { call } from './call-api.ts'
import { readJson } from './json-file.ts'

/** The first user of an installation, the key of its workspace, and the secret that signs the workspace's calls. */
export type Account = {
  email: string
  password: string
  apiKey: string
  workspaceId: string
  signingSecret: string
}

const secrets = '/api/v1/workspaces/current/signing-secrets'

/** Returns the account that the API wrote into a file, or null if its key is invalid, e.g. after a change of the database. */
export async function readAccount(path: string, url: string): Promise<Account | null> {
  const kept = readJson(path)
  if (!isKept(kept)) return null
  const { status, text } = await call(url, 'GET', secrets, { 'x-api-key': kept.apiKey })
  // Other errors do not mean that the key is invalid.
  if (status === 401 || status === 403) return null
  if (status !== 200) throw new Error(`GET ${secrets} failed with ${status}: ${text}`)
  const [current] = (JSON.parse(text) as { data: Array<{ workspace_id: string; secret: string }> }).data // the API's list
  if (!current) throw new Error(`GET ${secrets} returned no secret.`)
  return { ...kept, workspaceId: current.workspace_id, signingSecret: current.secret }
}

type Kept = Pick<Account, 'email' | 'password' | 'apiKey'>

function isKept(value: unknown): value is Kept {
  const { email, password, apiKey } = Object(value) as Partial<Kept> // checked field by field
  return [email, password, apiKey].every(field => typeof field === 'string')
}
