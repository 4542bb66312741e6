import { type Action, flagName, policyFlags } from '@belfry/domain'
import { allRoutes, type Route } from './all-routes.ts'
import { aUser, expectedAnswer, insiders, type Persona } from './personas.ts'
import { requests } from './requests.ts'

const head = `# Who may do what

Made by \`npm run docs:permissions\` from the table of rights in
[\`packages/domain/src/permissions.ts\`](../packages/domain/src/permissions.ts) and the router. A test asks every route as
each of these callers, and as more, and expects what is written here; it fails when this page is out of date.

- **yes**: may; a flag's name: may when the organization's policy sets it; **–**: \`403\`, with the role or the flag that
  is missing; **404**: sees nothing there.
- No credential, or one that is expired, revoked or ended, is answered with \`401\` everywhere but on public routes.
- Somebody else's organization or workspace, an unknown id and a malformed one are answered with the same \`404\`, byte
  for byte.
- A **viewer** and an **editor** are members of the organization who belong to the workspace; a **member** does not.
- Besides this table: only an owner makes or removes owners, the last owner stays, and everybody may remove themselves.
`

/** The page about the rights of every route. */
export function permissionsPage(): string {
  const columns = insiders.map(({ name }) => name.replace(' outside of the workspace', ''))
  const rows = allRoutes().map(route => [
    `\`${route.name.replace(/:(\w+)/g, '{$1}')}\``,
    `\`${rightOf(route)}\``,
    ...insiders.map(persona => cell(route, persona)),
  ])
  const table = [['Route', 'Right', ...columns], Array(columns.length + 2).fill('---'), ...rows]
  return `${head}\n${table.map(row => `| ${row.join(' | ')} |`).join('\n')}\n`
}

function rightOf({ name, endpoint }: Route) {
  return requests[name]?.right ?? endpoint.right
}

function cell(route: Route, persona: Persona): string {
  const answer = expectedAnswer(rightOf(route), persona)
  if (answer === 'allowed') return 'yes'
  if (answer !== 403) return String(answer)
  const actor = persona.actorIn('workspace') ?? persona.actorIn('organization')
  if (actor?.kind !== 'user') return '–'
  const flag = policyFlags.find(
    one => expectedAnswer(rightOf(route) as Action, aUser('', actor.role, actor.workspaceRole, [one])) === 'allowed', // not public
  )
  return flag ? `\`${flagName(flag)}\`` : '–'
}
