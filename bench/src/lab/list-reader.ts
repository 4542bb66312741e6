import { setTimeout as sleep } from 'node:timers/promises'
import { toId } from '@belfry/domain'
import { createUser } from './api-caller.ts'
import type { Database } from './database.ts'

/** Reads lists through the API as a user who sees everything that the first organization has. */
export type ListReader = {
  /** The workspace that has most. */
  workspace: string
  /** One page, and how long its answer took. */
  read(list: List, query?: URLSearchParams): Promise<{ ms: number; next: string | null }>
}

/** `log`: that of all workspaces of the organization. */
export type List = 'runs' | 'tasks' | 'log'

// Some dozen requests a second are all that a user may make.
const allowanceReturnsMs = 1_000

export async function openListReader(apiUrl: string, { pool }: Database): Promise<ListReader> {
  const { email, token } = await createUser(apiUrl)
  const { rows } = await pool.query<{ organization: string; workspace: string }>(
    `WITH home AS (SELECT id FROM organizations ORDER BY id LIMIT 1),
     joined AS (
       INSERT INTO memberships (organization_id, user_id, role)
       SELECT home.id, u.id, 'owner' FROM home, users u WHERE email = $1
     )
     SELECT home.id AS organization, (array_agg(w.id))[1] AS workspace
     FROM home JOIN workspaces w ON w.organization_id = home.id GROUP BY home.id`,
    [email],
  )
  const [home] = rows
  if (!home) throw new Error('The database has no organization.')
  const workspace = toId('ws', home.workspace)
  const paths: Record<List, string> = {
    runs: '/scheduler/runs',
    tasks: '/scheduler/tasks',
    log: `/organizations/${toId('org', home.organization)}/runs`,
  }
  const own = { Authorization: `Bearer ${token}` }
  return {
    workspace,
    async read(list, query = new URLSearchParams()) {
      const headers = list === 'log' ? own : { ...own, 'X-Workspace-Id': workspace }
      const ask = async () => {
        const began = performance.now()
        const answer = await fetch(`${apiUrl}/api/v1${paths[list]}?${query}`, { headers })
        return { answer, body: await answer.text(), ms: performance.now() - began }
      }
      let { answer, body, ms } = await ask()
      for (; answer.status === 429; { answer, body, ms } = await ask()) await sleep(allowanceReturnsMs)
      if (answer.status !== 200) throw new Error(`${list}?${query} was answered with ${answer.status}: ${body}`)
      return { ms, next: (JSON.parse(body) as { next_cursor: string | null }).next_cursor } // as every list has it
    },
  }
}
