import { roles, workspaceRoles } from '@belfry/domain'
import { z } from 'zod'
import { idField, timestampField } from './answer-fields.ts'

export const updateMemberBody = z.strictObject({ role: z.enum(roles) })

export type UpdateMemberBody = z.infer<typeof updateMemberBody>

export const putWorkspaceMemberBody = z.strictObject({
  role: z
    .enum(workspaceRoles)
    .optional()
    .meta({ description: "Default: the role that they have, or for somebody new their membership's workspace_role." }),
})

export type PutWorkspaceMemberBody = z.infer<typeof putWorkspaceMemberBody>

const memberUser = z.object({
  id: idField('user'),
  email: z.string().meta({ format: 'email', examples: ['ada@example.com'] }),
  name: z.string().meta({ examples: ['Ada Lovelace'] }),
})

/** A user in an organization. */
export const member = z
  .object({
    user: memberUser,
    role: z.enum(roles),
    workspace_role: z
      .enum(workspaceRoles)
      .meta({ description: 'The default role in workspaces that they join later, from their invitation.' }),
    joined_at: timestampField(),
  })
  .meta({ id: 'Member' })

export type Member = z.infer<typeof member>

/** A member of the organization who belongs to one of its workspaces. */
export const workspaceMember = z
  .object({ user: memberUser, role: z.enum(workspaceRoles), added_at: timestampField() })
  .meta({ id: 'WorkspaceMember' })

export type WorkspaceMember = z.infer<typeof workspaceMember>
