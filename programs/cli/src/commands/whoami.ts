import type { Command } from 'commander'
import type { Context } from '../context.ts'

export function addWhoami(program: Command, context: () => Context): void {
  program
    .command('whoami')
    .description('show the server, the workspace and the organization of the API key or session')
    .action(async () => {
      const ctx = context()
      const { workspaces, organizations } = ctx.belfry()
      const workspace = await workspaces.get('current', { signal: ctx.signal })
      const organization = await organizations.get(workspace.organizationId, { signal: ctx.signal })
      const url = ctx.url()
      const lines = [url, `${workspace.id}  ${workspace.name}`, `${organization.id}  ${organization.name}`]
      ctx.out.show({ url, workspace, organization }, lines.join('\n'))
    })
}
