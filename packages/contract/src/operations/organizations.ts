import { z } from 'zod'
import { member, updateMemberBody } from '../member.ts'
import { operation } from '../operation.ts'
import {
  createOrganizationBody,
  organization,
  organizationDetail,
  organizationSummary,
  transferOrganizationBody,
  updateOrganizationBody,
} from '../organization.ts'
import { listQuery, pageOf } from '../page.ts'

export const organizationsOperations = {
  listOrganizations: operation('GET', '/api/v1/organizations', {
    right: 'signed_in',
    summary: 'List the organizations of the signed-in user',
    client: 'organizations.list',
    query: listQuery,
    answer: { status: 200, body: pageOf(organization) },
  }),

  createOrganization: operation('POST', '/api/v1/organizations', {
    right: 'signed_in',
    summary: 'Create an organization, of which the caller becomes the owner',
    client: 'organizations.create',
    body: createOrganizationBody,
    answer: { status: 201, body: organization },
    refusals: ['email_not_confirmed', 'organization_limit_reached'],
  }),

  getOrganization: operation('GET', '/api/v1/organizations/:org', {
    right: 'organization.read',
    summary: 'Read an organization; owners see its usage, an API key sees its name, slug and tier',
    description: 'With an API key of one of its workspaces it is a summary without `policy`.',
    client: 'organizations.get',
    answer: { status: 200, body: z.union([organizationDetail, organizationSummary]) },
  }),

  updateOrganization: operation('PATCH', '/api/v1/organizations/:org', {
    right: 'organization.change',
    summary: 'Change the name, the slug or the policy of an organization',
    description: 'Omitted fields stay unchanged, also within `policy`.',
    client: 'organizations.update',
    body: updateOrganizationBody,
    answer: { status: 200, body: organization },
    refusals: ['slug_taken', 'second_factor_required', 'step_up_required'],
  }),

  deleteOrganization: operation('DELETE', '/api/v1/organizations/:org', {
    right: 'organization.delete',
    summary: 'Delete an organization that has no workspace left',
    description: 'Requires an owner.',
    client: 'organizations.delete',
    answer: { status: 204 },
    refusals: ['conflict', 'step_up_required'],
  }),

  listMembers: operation('GET', '/api/v1/organizations/:org/members', {
    right: 'member.read',
    summary: 'List the members of an organization',
    client: 'organizations.members',
    query: listQuery,
    answer: { status: 200, body: pageOf(member) },
  }),

  updateMember: operation('PATCH', '/api/v1/organizations/:org/members/:user', {
    right: 'member.manage',
    summary: 'Change the role of a member; only owners may add or remove owners',
    body: updateMemberBody,
    answer: { status: 200, body: member },
    refusals: ['last_owner'],
  }),

  removeMember: operation('DELETE', '/api/v1/organizations/:org/members/:user', {
    right: 'member.leave',
    summary: 'Remove a member from an organization and its workspaces, or leave it',
    answer: { status: 204 },
    refusals: ['last_owner'],
  }),

  transferOrganization: operation('POST', '/api/v1/organizations/:org/transfer', {
    right: 'organization.transfer',
    summary: 'Make another member an owner in place of the caller, who stays as an admin',
    body: transferOrganizationBody,
    answer: { status: 200, body: member },
    refusals: ['step_up_required'],
  }),
}
