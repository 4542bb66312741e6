import { operation } from '../operation.ts'
import { pageOf } from '../page.ts'
import { putSecretBody, secret, signingKey, signingSecret } from '../secret.ts'

export const secretsOperations = {
  listSecrets: operation('GET', '/api/v1/workspaces/:ws/secrets', {
    right: 'secret.read',
    summary: 'List the secrets of a workspace by name, without their values',
    client: 'workspaces.secrets.list',
    answer: { status: 200, body: pageOf(secret) },
  }),

  putSecret: operation('PUT', '/api/v1/workspaces/:ws/secrets/:name', {
    right: 'secret.write',
    summary: 'Create a secret (201), or change its value (200)',
    description: 'Requests refer to it as `{{ secrets.NAME }}`.',
    client: 'workspaces.secrets.put',
    body: putSecretBody,
    answer: { status: 200, orStatus: 201, body: secret },
    refusals: ['quota_exceeded'],
  }),

  deleteSecret: operation('DELETE', '/api/v1/workspaces/:ws/secrets/:name', {
    right: 'secret.delete',
    summary: 'Delete a secret',
    description: 'Tasks that still refer to it fail with `secret_missing`.',
    client: 'workspaces.secrets.delete',
    answer: { status: 204 },
  }),

  listSigningKeys: operation('GET', '/api/v1/workspaces/:ws/signing-keys', {
    right: 'public',
    summary: 'List the public keys that verify `v1a` signatures, the current one first',
    description: 'It needs no API key.',
    client: 'workspaces.signingKeys.list',
    answer: { status: 200, body: pageOf(signingKey) },
    refusals: ['not_found'],
  }),

  listSigningSecrets: operation('GET', '/api/v1/workspaces/:ws/signing-secrets', {
    right: 'signing_secret.read',
    summary: 'List the signing secrets of a workspace, the current one first',
    client: 'workspaces.signingSecrets.list',
    answer: { status: 200, body: pageOf(signingSecret) },
  }),

  rotateSigningSecret: operation('POST', '/api/v1/workspaces/:ws/signing-secrets', {
    right: 'signing_secret.rotate',
    summary: 'Create a new signing secret; the old one also signs for 24 hours',
    client: 'workspaces.signingSecrets.rotate',
    answer: { status: 201, body: signingSecret },
    refusals: ['conflict'],
  }),

  revokeSigningSecret: operation('DELETE', '/api/v1/workspaces/:ws/signing-secrets/:secret', {
    right: 'signing_secret.revoke',
    summary: 'Revoke an old signing secret at once',
    client: 'workspaces.signingSecrets.revoke',
    answer: { status: 204 },
    refusals: ['conflict'],
  }),
}
