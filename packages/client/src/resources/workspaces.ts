import type { Http } from '../http.ts'
import { type List, list } from '../list.ts'
import type { RequestOptions } from '../options.ts'
import { path } from '../path.ts'
import { toBody, toDispatchBody } from '../request-body.ts'
import type {
  Connection,
  ConnectionTest,
  FederatedCredential,
  Id,
  NewFederatedCredential,
  PageOptions,
  PutConnection,
  PutSecret,
  Secret,
  SigningKey,
  SigningSecret,
  Workspace,
  WorkspaceMember,
} from '../types/index.ts'

/** Workspaces, which own tasks, cron jobs, keys and logs. */
export type Workspaces = ReturnType<typeof workspacesOf>

export function workspacesOf(http: Http) {
  return {
    /** Creates a workspace. Requires a session token. */
    create: (organizationId: Id, workspace: { name: string }, options?: RequestOptions): Promise<Workspace> =>
      http.post(path`/api/v1/organizations/${organizationId}/workspaces`, toBody(workspace), options),

    /** Returns a workspace. Throws `NotFoundError`, also for workspaces that the caller cannot see. */
    get: (id: Id, options?: RequestOptions): Promise<Workspace> => http.get(path`/api/v1/workspaces/${id}`, options),

    /** Changes a workspace. Requires a session token. */
    update: (
      id: Id,
      change: { name?: string; keepsResponsesWithSecrets?: boolean; asymmetricSignatures?: boolean },
      options?: RequestOptions,
    ): Promise<Workspace> => http.patch(path`/api/v1/workspaces/${id}`, toBody(change), options),

    /** Deletes a workspace, and stops all its deliveries at once. Requires a session token. */
    delete: (id: Id, options?: RequestOptions): Promise<void> => http.delete(path`/api/v1/workspaces/${id}`, options),

    /** Lists the members of a workspace with their roles. Owners and admins of the organization have access without it. */
    members: (id: Id, page: PageOptions = {}, options?: RequestOptions): List<WorkspaceMember> =>
      list(http, path`/api/v1/workspaces/${id}/members`, page, options),

    /** The trust in tokens of CI jobs, which exchange them for API keys. */
    federatedCredentials: federatedCredentialsOf(http),
    /** Values that requests refer to, and that are never returned. */
    secrets: secretsOf(http),
    /** How calls prove who they are. */
    connections: connectionsOf(http),
    /** The public keys of signatures. */
    signingKeys: signingKeysOf(http),
    /** The secrets that sign deliveries. */
    signingSecrets: signingSecretsOf(http),
  }
}

function federatedCredentialsOf(http: Http) {
  return {
    /** Lets CI jobs exchange their tokens for API keys. Requires a session token of an owner or admin. */
    create: (
      workspaceId: Id,
      credential: NewFederatedCredential,
      options?: RequestOptions,
    ): Promise<FederatedCredential> =>
      http.post(path`/api/v1/workspaces/${workspaceId}/federated-credentials`, toBody(credential), options),

    /** Lists the federated credentials of a workspace. Requires a session token. */
    list: (workspaceId: Id, page: PageOptions = {}, options?: RequestOptions): List<FederatedCredential> =>
      list(http, path`/api/v1/workspaces/${workspaceId}/federated-credentials`, page, options),

    /** Returns a federated credential. Requires a session token. */
    get: (workspaceId: Id, id: Id, options?: RequestOptions): Promise<FederatedCredential> =>
      http.get(path`/api/v1/workspaces/${workspaceId}/federated-credentials/${id}`, options),

    /** Deletes a federated credential, and revokes the API keys of its jobs. Requires a session token. */
    delete: (workspaceId: Id, id: Id, options?: RequestOptions): Promise<void> =>
      http.delete(path`/api/v1/workspaces/${workspaceId}/federated-credentials/${id}`, options),
  }
}

function secretsOf(http: Http) {
  return {
    /** Lists the names of secrets. Values are never returned. */
    list: (workspaceId: Id, page: PageOptions = {}, options?: RequestOptions): List<Secret> =>
      list(http, path`/api/v1/workspaces/${workspaceId}/secrets`, page, options),

    /** Creates or replaces a secret. Requests refer to it as `{{ secrets.NAME }}`. */
    put: (workspaceId: Id, name: string, secret: string | PutSecret, options?: RequestOptions): Promise<Secret> => {
      const body = toBody(typeof secret === 'string' ? { value: secret } : secret)
      return http.put(path`/api/v1/workspaces/${workspaceId}/secrets/${name}`, body, options)
    },

    /** Deletes a secret. Tasks that still refer to it fail with `secret_missing`. */
    delete: (workspaceId: Id, name: string, options?: RequestOptions): Promise<void> =>
      http.delete(path`/api/v1/workspaces/${workspaceId}/secrets/${name}`, options),
  }
}

function connectionsOf(http: Http) {
  return {
    /** Lists connections by name. Their secrets are never returned. */
    list: (workspaceId: Id, page: PageOptions = {}, options?: RequestOptions): List<Connection> =>
      list(http, path`/api/v1/workspaces/${workspaceId}/connections`, page, options),

    /** Returns a connection. Throws `NotFoundError`. */
    get: (workspaceId: Id, name: string, options?: RequestOptions): Promise<Connection> =>
      http.get(path`/api/v1/workspaces/${workspaceId}/connections/${name}`, options),

    /** Creates or replaces a connection. */
    put: (workspaceId: Id, name: string, connection: PutConnection, options?: RequestOptions): Promise<Connection> =>
      http.put(path`/api/v1/workspaces/${workspaceId}/connections/${name}`, toBody(connection), options),

    /** Requests a token, or calls a URL, and returns what happened. Kinds without tokens need a URL. */
    test: (
      workspaceId: Id,
      name: string,
      test: { targetUrl?: string } = {},
      options?: RequestOptions,
    ): Promise<ConnectionTest> =>
      http.post(path`/api/v1/workspaces/${workspaceId}/connections/${name}/test`, toDispatchBody(test), options),

    /** Deletes a connection. Throws `ConflictError` with `connection_in_use` while a cron job or a subscription names it. */
    delete: (workspaceId: Id, name: string, options?: RequestOptions): Promise<void> =>
      http.delete(path`/api/v1/workspaces/${workspaceId}/connections/${name}`, options),
  }
}

function signingKeysOf(http: Http) {
  return {
    /** Lists the public keys that verify `v1a` signatures, the current one first. It needs no API key. */
    list: (workspaceId: Id, page: PageOptions = {}, options?: RequestOptions): List<SigningKey> =>
      list(http, path`/api/v1/workspaces/${workspaceId}/signing-keys`, page, options),
  }
}

function signingSecretsOf(http: Http) {
  return {
    /** Lists the current signing secret and, during a rotation, the previous one. */
    list: (workspaceId: Id, page: PageOptions = {}, options?: RequestOptions): List<SigningSecret> =>
      list(http, path`/api/v1/workspaces/${workspaceId}/signing-secrets`, page, options),

    /** Creates a new signing secret. The previous one signs too for 24 hours. */
    rotate: (workspaceId: Id, options?: RequestOptions): Promise<SigningSecret> =>
      http.post(path`/api/v1/workspaces/${workspaceId}/signing-secrets`, undefined, options),

    /** Ends the previous signing secret at once. */
    revoke: (workspaceId: Id, id: Id, options?: RequestOptions): Promise<void> =>
      http.delete(path`/api/v1/workspaces/${workspaceId}/signing-secrets/${id}`, options),
  }
}
