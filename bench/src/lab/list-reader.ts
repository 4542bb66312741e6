import { toId } from '@belfry/domain'
import { createUser } from './api-caller.ts'
import type { Database } from './database.ts'

/** Reads lists through the API as users who see everything that the first organization has. */
export type ListReader = {
  /** The workspace that has most. */
  workspace: string
  /** One page, and how long its answer took. */
  read(list: List, query?: URLSearchParams): Promise<{ ms: number; next: string | null }>
}

/** `log`: that of all workspaces of the organization. */
export type List = 'runs' | 'tasks' | 'log'

// A user may make 50 requests a second.
const users = 5

export async function openListReader(apiUrl: string, { pool }: Database): Promise<ListReader> {
  const accounts = await Promise.all(Array.from({ length: users }, () => createUser(apiUrl)))
  const { rows } = await pool.query<{ organization: string; workspace: string }>(
    `WITH home AS (SELECT id FROM organizations ORDER BY id LIMIT 1),
     joined AS (
       INSERT INTO memberships (organization_id, user_id, role)
       SELECT home.id, u.id, 'owner' FROM home, users u WHERE email = ANY ($1)
     )
     SELECT home.id AS organization, (array_agg(w.id))[1] AS workspace
     FROM home JOIN workspaces w ON w.organization_id = home.id GROUP BY home.id`,
    [accounts.map(({ email }) => email)],
  )
  const [home] = rows
  if (!home) throw new Error('The database has no organization.')
  const workspace = toId('ws', home.workspace)
  const paths: Record<List, string> = {
    runs: '/scheduler/runs',
    tasks: '/scheduler/tasks',
    log: `/organizations/${toId('org', home.organization)}/runs`,
  }
  let asked = 0
  return {
    workspace,
    async read(list, query = new URLSearchParams()) {
      const own = { Authorization: `Bearer ${accounts[asked++ % users]?.token}` }
      const headers = list === 'log' ? own : { ...own, 'X-Workspace-Id': workspace }
      const began = performance.now()
      const answer = await fetch(`${apiUrl}/api/v1${paths[list]}?${query}`, { headers })
      const body = await answer.text()
      const ms = performance.now() - began
      if (answer.status !== 200) throw new Error(`${list}?${query} was answered with ${answer.status}: ${body}`)
      return { ms, next: (JSON.parse(body) as { next_cursor: string | null }).next_cursor } // as every list has it
    },
  }
}
