import { roles, workspaceRoles } from '@belfry/domain/permissions'
import { z } from 'zod'
import { user } from './auth.ts'
import { timestampField } from './response-fields.ts'

const memberUser = user.omit({ created_at: true })

/** A member of an organization. */
export const member = z
  .object({
    user: memberUser,
    role: z.enum(roles),
    workspace_role: z
      .enum(workspaceRoles)
      .meta({ description: 'The default role in workspaces that the member joins later, from the invitation.' }),
    joined_at: timestampField(),
  })
  .meta({ id: 'Member' })

export type Member = z.infer<typeof member>

/** A member of the organization who belongs to a workspace. */
export const workspaceMember = z
  .object({ user: memberUser, role: z.enum(workspaceRoles), added_at: timestampField() })
  .meta({ id: 'WorkspaceMember' })

export type WorkspaceMember = z.infer<typeof workspaceMember>
