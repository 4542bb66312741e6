import { operation } from '../operation.ts'
import {
  blockAddressBody,
  blockedAddress,
  findTargetsQuery,
  foundTargets,
  listBlockedAddressesQuery,
  listTenantsQuery,
  operatorEntry,
  suspensionBody,
  tenant,
  tenantDetail,
  unblockAddressBody,
} from '../operator.ts'
import { listQuery, pageOf } from '../page.ts'
import { changeTierBody } from '../tier.ts'

const suspension = {
  right: 'operator',
  body: suspensionBody,
  answer: { status: 204 },
  refusals: ['step_up_required'],
} as const

export const operatorOperations = {
  listTenants: operation('GET', '/api/v1/operator/organizations', {
    right: 'operator',
    summary: 'List the organizations of the installation, newest first or by what they use',
    query: listTenantsQuery,
    answer: { status: 200, body: pageOf(tenant) },
  }),

  getTenant: operation('GET', '/api/v1/operator/organizations/:org', {
    right: 'operator',
    summary: 'Read an organization with its workspaces and members',
    answer: { status: 200, body: tenantDetail },
  }),

  setTier: operation('PUT', '/api/v1/operator/organizations/:org/tier', {
    right: 'operator',
    summary: 'Set the tier of an organization',
    body: changeTierBody,
    answer: { status: 204 },
    refusals: ['step_up_required'],
  }),

  suspendOrganization: operation('POST', '/api/v1/operator/organizations/:org/suspend', {
    ...suspension,
    summary: 'Suspend an organization: its callers are refused and its tasks wait, and nothing is deleted',
  }),

  resumeOrganization: operation('POST', '/api/v1/operator/organizations/:org/resume', {
    ...suspension,
    summary: 'Resume a suspended organization; its waiting tasks start',
  }),

  suspendWorkspace: operation('POST', '/api/v1/operator/workspaces/:ws/suspend', {
    ...suspension,
    summary: 'Suspend a workspace: its callers are refused and its tasks wait, and nothing is deleted',
  }),

  resumeWorkspace: operation('POST', '/api/v1/operator/workspaces/:ws/resume', {
    ...suspension,
    summary: 'Resume a suspended workspace; its waiting tasks start',
  }),

  suspendUser: operation('POST', '/api/v1/operator/users/:user/suspend', {
    ...suspension,
    summary: 'Suspend a user: its callers are refused and its tasks wait, and nothing is deleted',
  }),

  resumeUser: operation('POST', '/api/v1/operator/users/:user/resume', {
    ...suspension,
    summary: 'Resume a suspended user; its waiting tasks start',
  }),

  resetFactors: operation('POST', '/api/v1/operator/users/:user/factors/reset', {
    ...suspension,
    summary: 'Remove all second factors of a user who has lost them, and end the sessions of the user',
  }),

  findTargets: operation('GET', '/api/v1/operator/targets', {
    right: 'operator',
    summary: 'Find the workspaces that call a host',
    query: findTargetsQuery,
    answer: { status: 200, body: foundTargets },
  }),

  listBlockedAddresses: operation('GET', '/api/v1/operator/blocked-addresses', {
    right: 'operator',
    summary: 'List the email addresses that operators have blocked, newest first',
    query: listBlockedAddressesQuery,
    answer: { status: 200, body: pageOf(blockedAddress) },
  }),

  blockAddress: operation('POST', '/api/v1/operator/blocked-addresses', {
    right: 'operator',
    summary: 'Send no alerts and no invitations to an email address',
    body: blockAddressBody,
    answer: { status: 204 },
  }),

  unblockAddress: operation('POST', '/api/v1/operator/blocked-addresses/remove', {
    right: 'operator',
    summary: 'End the block of an email address; a recipient who has unsubscribed still gets no alerts',
    body: unblockAddressBody,
    answer: { status: 204 },
  }),

  listOperatorLog: operation('GET', '/api/v1/operator/log', {
    right: 'operator',
    summary: 'List the actions of operators, newest first',
    query: listQuery,
    answer: { status: 200, body: pageOf(operatorEntry) },
  }),
}
