import { randomBytes } from 'node:crypto'
import { rename, rm, writeFile } from 'node:fs/promises'
import type { Express } from 'express'
import type { Context } from '../context.ts'
import { injectRequest } from '../http/inject-request.ts'
import { hasAccounts } from './registration.ts'

/**
 * Creates the first account of an installation, with an organization, a workspace and an API key, and writes it into a
 * file. Returns at once when an account exists. Call it before the app listens, so a stranger cannot be faster.
 */
export async function ensureFirstAccount({ prisma }: Context, app: Express, file: string): Promise<void> {
  if (await hasAccounts(prisma)) return
  const user = { email: 'admin@belfry.local', password: randomBytes(12).toString('base64url') }
  const draft = `${file}.${process.pid}.tmp`
  const write = (account: object) => writeFile(draft, `${JSON.stringify(account, null, 2)}\n`, { mode: 0o600 })
  await write(user) // no account whose password a full disk or a crash would lose
  const { token } = await create('/api/v1/auth/register', { ...user, name: 'Admin' }).catch(async error => {
    await rm(draft)
    throw error
  })
  const session = { authorization: `Bearer ${token}` }
  const { id: organization } = await create('/api/v1/organizations', { name: 'My organization' }, session)
  const workspaces = `/api/v1/organizations/${organization}/workspaces`
  const { id: workspace } = await create(workspaces, { name: 'My workspace' }, session)
  const { key: apiKey } = await create(`/api/v1/workspaces/${workspace}/api-keys`, { name: 'First key' }, session)
  await write({ ...user, apiKey })
  await rename(draft, file)

  // As a new user would, but within this process.
  async function create(path: string, payload: object, headers: Record<string, string> = {}): Promise<Created> {
    const response = await injectRequest(app, { method: 'POST', url: path, headers, payload })
    if (response.statusCode === 201) return response.json<Created>()
    throw new Error(`POST ${path} failed with ${response.statusCode}: ${response.payload}`)
  }
}

// The responses of the API, of which each call uses a part.
type Created = { id: string; key: string; token: string }
