import { randomBytes } from 'node:crypto'

/** Makes an account as a user would, and returns the API key of its workspace. */
export async function createApiKey(apiUrl: string): Promise<string> {
  const { token } = await createUser(apiUrl)
  const organization = await post(apiUrl, '/organizations', { name: 'Bench' }, token)
  const workspace = await post(apiUrl, `/organizations/${organization.id}/workspaces`, { name: 'Main' }, token)
  const { key } = await post(apiUrl, `/workspaces/${workspace.id}/api-keys`, { name: 'Bench' }, token)
  return key ?? ''
}

/** Makes a user, who is signed in. */
export async function createUser(apiUrl: string): Promise<{ email: string; token: string }> {
  const account = { email: `${randomBytes(6).toString('hex')}@example.com`, password: randomBytes(12).toString('hex') }
  const { token } = await post(apiUrl, '/auth/register', { ...account, name: 'Bench' })
  return { email: account.email, token: token ?? '' }
}

async function post(apiUrl: string, path: string, body: unknown, token?: string): Promise<Record<string, string>> {
  const response = await fetch(`${apiUrl}/api/v1${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...(token ? { Authorization: `Bearer ${token}` } : {}) },
    body: JSON.stringify(body),
  })
  if (response.status !== 201) throw new Error(`POST ${path} was answered with ${response.status}.`)
  return (await response.json()) as Record<string, string> // the members that are read are texts
}
