import { workspaceRoles } from '@belfry/domain/permissions'
import { z } from 'zod'
import { memberUser } from './auth.ts'
import { integer, textField } from './fields.ts'
import { namedObject } from './objects.ts'
import { operation } from './operation.ts'
import { listQuery, pageOf } from './page.ts'
import { idField, shownFlag, shownNumber, timestampField } from './response-fields.ts'
import { displayName } from './text-rules.ts'

export const updateWorkspaceBody = z.strictObject({
  name: textField(displayName).optional(),
  keeps_responses_with_secrets: z.boolean().optional(),
  asymmetric_signatures: z.boolean().optional(),
  switch_off_after_days: integer(0, 90).optional(),
})

const workspace = namedObject('Workspace', {
  id: idField('ws'),
  organization_id: idField('org'),
  name: z.string().meta({ examples: ['Production'] }),
  keeps_responses_with_secrets: z.boolean().meta({ examples: [true] }),
  asymmetric_signatures: shownFlag(
    'Whether deliveries also have a `v1a` signature (Ed25519), which receivers verify with a public key.',
    false,
  ),
  switch_off_after_days: shownNumber(
    'After how many days a cron job or subscription that only fails is switched off. Owners are warned after half of them. 0: never.',
    10,
  ),
  created_at: timestampField(),
  updated_at: timestampField(),
})

export type Workspace = z.infer<typeof workspace>

const workspaceMember = namedObject('WorkspaceMember', {
  user: memberUser,
  role: z.enum(workspaceRoles),
  added_at: timestampField(),
})

export type WorkspaceMember = z.infer<typeof workspaceMember>

export const workspacesOperations = {
  listWorkspaces: operation('GET', '/api/v1/organizations/:org/workspaces', {
    right: 'workspace.list',
    summary: 'List the workspaces of an organization; a member sees their own, an API key its own',
    client: 'organizations.workspaces',
    query: listQuery,
    response: { status: 200, body: pageOf(workspace) },
  }),

  createWorkspace: operation('POST', '/api/v1/organizations/:org/workspaces', {
    right: 'workspace.create',
    summary: 'Create a workspace',
    description: 'Requires a session token.',
    client: 'workspaces.create',
    body: z.strictObject({ name: textField(displayName) }),
    response: { status: 201, body: workspace },
    errors: ['workspace_limit_reached'],
  }),

  getWorkspace: operation('GET', '/api/v1/workspaces/:ws', {
    right: 'workspace.read',
    summary: 'Read a workspace',
    client: 'workspaces.get',
    response: { status: 200, body: workspace },
  }),

  updateWorkspace: operation('PATCH', '/api/v1/workspaces/:ws', {
    right: 'workspace.change',
    summary: 'Change the name or the settings of a workspace',
    description: 'Requires a session token.',
    client: 'workspaces.update',
    body: updateWorkspaceBody,
    response: { status: 200, body: workspace },
  }),

  deleteWorkspace: operation('DELETE', '/api/v1/workspaces/:ws', {
    right: 'workspace.delete',
    summary: 'Delete a workspace: all of its deliveries stop at once',
    description: 'Requires a session token.',
    client: 'workspaces.delete',
    errors: ['step_up_required'],
  }),

  listWorkspaceMembers: operation('GET', '/api/v1/workspaces/:ws/members', {
    right: 'workspace_member.read',
    summary: 'List the members of a workspace; owners and admins need not be among them',
    client: 'workspaces.members',
    query: listQuery,
    response: { status: 200, body: pageOf(workspaceMember) },
  }),

  putWorkspaceMember: operation('PUT', '/api/v1/workspaces/:ws/members/:user', {
    right: 'workspace_member.manage',
    summary: 'Add a member of the organization to a workspace, or change the role in it',
    body: z.strictObject({
      role: z
        .enum(workspaceRoles)
        .optional()
        .meta({ description: "Default: the current role, or for a new member their membership's workspace_role." }),
    }),
    response: { status: 200, body: workspaceMember },
  }),

  removeWorkspaceMember: operation('DELETE', '/api/v1/workspaces/:ws/members/:user', {
    right: 'workspace_member.manage',
    summary: 'Remove a member from a workspace',
  }),
}
