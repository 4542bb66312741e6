import { apiKey, createApiKeyBody, newApiKey, rollApiKeyBody } from '../api-key.ts'
import { createFederatedCredentialBody, federatedCredential } from '../federated-credential.ts'
import { operation } from '../operation.ts'
import { listQuery, pageOf } from '../page.ts'

export const apiKeysOperations = {
  listApiKeys: operation('GET', '/api/v1/workspaces/:ws/api-keys', {
    right: 'api_key.read',
    summary: 'List the API keys of a workspace, including revoked ones',
    query: listQuery,
    answer: { status: 200, body: pageOf(apiKey) },
  }),

  createApiKey: operation('POST', '/api/v1/workspaces/:ws/api-keys', {
    right: 'api_key.create',
    summary: 'Create an API key, with at most the rights of the user who creates it',
    body: createApiKeyBody,
    answer: { status: 201, body: newApiKey },
    refusals: ['quota_exceeded', 'step_up_required'],
  }),

  revokeApiKey: operation('DELETE', '/api/v1/workspaces/:ws/api-keys/:key', {
    right: 'api_key.revoke',
    summary: 'Revoke an API key, everywhere within five seconds',
    answer: { status: 204 },
  }),

  rollApiKey: operation('POST', '/api/v1/workspaces/:ws/api-keys/:key/roll', {
    right: 'api_key.create',
    summary: 'Replace an API key; the previous one stays valid for a while',
    body: rollApiKeyBody,
    answer: { status: 201, body: newApiKey },
    refusals: ['quota_exceeded', 'conflict', 'step_up_required'],
  }),

  listFederatedCredentials: operation('GET', '/api/v1/workspaces/:ws/federated-credentials', {
    right: 'federated_credential.read',
    summary: 'List the federated credentials of a workspace',
    description: 'Requires a session token.',
    client: 'workspaces.federatedCredentials.list',
    answer: { status: 200, body: pageOf(federatedCredential) },
  }),

  createFederatedCredential: operation('POST', '/api/v1/workspaces/:ws/federated-credentials', {
    right: 'federated_credential.create',
    summary: 'Let CI jobs exchange their OpenID Connect tokens for API keys',
    description: 'Requires a session token of an owner or admin.',
    client: 'workspaces.federatedCredentials.create',
    body: createFederatedCredentialBody,
    answer: { status: 201, body: federatedCredential },
    refusals: ['conflict', 'step_up_required'],
  }),

  getFederatedCredential: operation('GET', '/api/v1/workspaces/:ws/federated-credentials/:fed', {
    right: 'federated_credential.read',
    summary: 'Read a federated credential',
    description: 'Requires a session token.',
    client: 'workspaces.federatedCredentials.get',
    answer: { status: 200, body: federatedCredential },
  }),

  deleteFederatedCredential: operation('DELETE', '/api/v1/workspaces/:ws/federated-credentials/:fed', {
    right: 'federated_credential.delete',
    summary: 'Delete a federated credential, and revoke the API keys of its jobs',
    client: 'workspaces.federatedCredentials.delete',
    answer: { status: 204 },
  }),
}
