import { putWorkspaceMemberBody, workspaceMember } from '../member.ts'
import { operation } from '../operation.ts'
import { listQuery, pageOf } from '../page.ts'
import { createWorkspaceBody, updateWorkspaceBody, workspace } from '../workspace.ts'

export const workspacesOperations = {
  listWorkspaces: operation('GET', '/api/v1/organizations/:org/workspaces', {
    right: 'workspace.list',
    summary: 'List the workspaces of an organization; a member sees their own, an API key its own',
    client: 'organizations.workspaces',
    query: listQuery,
    answer: { status: 200, body: pageOf(workspace) },
  }),

  createWorkspace: operation('POST', '/api/v1/organizations/:org/workspaces', {
    right: 'workspace.create',
    summary: 'Create a workspace',
    description: 'Requires a session token.',
    client: 'workspaces.create',
    body: createWorkspaceBody,
    answer: { status: 201, body: workspace },
    refusals: ['workspace_limit_reached'],
  }),

  getWorkspace: operation('GET', '/api/v1/workspaces/:ws', {
    right: 'workspace.read',
    summary: 'Read a workspace',
    client: 'workspaces.get',
    answer: { status: 200, body: workspace },
  }),

  updateWorkspace: operation('PATCH', '/api/v1/workspaces/:ws', {
    right: 'workspace.change',
    summary: 'Change the name or the settings of a workspace',
    description: 'Requires a session token.',
    client: 'workspaces.update',
    body: updateWorkspaceBody,
    answer: { status: 200, body: workspace },
  }),

  deleteWorkspace: operation('DELETE', '/api/v1/workspaces/:ws', {
    right: 'workspace.delete',
    summary: 'Delete a workspace: all of its deliveries stop at once',
    description: 'Requires a session token.',
    client: 'workspaces.delete',
    answer: { status: 204 },
    refusals: ['step_up_required'],
  }),

  listWorkspaceMembers: operation('GET', '/api/v1/workspaces/:ws/members', {
    right: 'workspace_member.read',
    summary: 'List the members of a workspace; owners and admins need not be among them',
    client: 'workspaces.members',
    query: listQuery,
    answer: { status: 200, body: pageOf(workspaceMember) },
  }),

  putWorkspaceMember: operation('PUT', '/api/v1/workspaces/:ws/members/:user', {
    right: 'workspace_member.manage',
    summary: 'Add a member of the organization to a workspace, or change the role in it',
    body: putWorkspaceMemberBody,
    answer: { status: 200, body: workspaceMember },
  }),

  removeWorkspaceMember: operation('DELETE', '/api/v1/workspaces/:ws/members/:user', {
    right: 'workspace_member.manage',
    summary: 'Remove a member from a workspace',
    answer: { status: 204 },
  }),
}
