import { roles, workspaceRoles } from '@belfry/domain/permissions'
import { z } from 'zod'
import { user } from './auth.ts'
import { namedObject } from './objects.ts'
import { timestampField } from './response-fields.ts'

const memberUser = user.omit({ created_at: true })

export const member = namedObject('Member', {
  user: memberUser,
  role: z.enum(roles),
  workspace_role: z
    .enum(workspaceRoles)
    .meta({ description: 'The default role in workspaces that the member joins later, from the invitation.' }),
  joined_at: timestampField(),
})

export type Member = z.infer<typeof member>

export const workspaceMember = namedObject('WorkspaceMember', {
  user: memberUser,
  role: z.enum(workspaceRoles),
  added_at: timestampField(),
})

export type WorkspaceMember = z.infer<typeof workspaceMember>
