import type { Id, Timestamp } from './request.ts'

export type Workspace = {
  id: Id
  organizationId: Id
  name: string
  /** Whether the log keeps the headers and bodies of responses to requests with secrets. */
  keepsResponsesWithSecrets: boolean
  /** Whether deliveries also have a `v1a` signature (Ed25519), which receivers verify with a public key. */
  asymmetricSignatures: boolean
  createdAt: Timestamp
  updatedAt: Timestamp
}

/** A secret, which requests refer to as `{{ secrets.NAME }}`. Its value is never returned. */
export type Secret = {
  name: string
  /** The hosts that it may be sent to, such as `api.example.com` or `*.example.com`. Null: every host. */
  allowedHosts: string[] | null
  createdAt: Timestamp
  updatedAt: Timestamp
}

/** A value of a secret. Without `allowedHosts` an existing secret keeps its hosts. Null allows every host. */
export type PutSecret = { value: string; allowedHosts?: string[] | null }

/** A public key of a workspace, for `webhooks.verify`. */
export type SigningKey = {
  publicKey: string
  /** When a replaced key stops signing; null for the current key. */
  expiresAt: Timestamp | null
}

/** A secret that signs the deliveries of a workspace. */
export type SigningSecret = {
  id: Id
  workspaceId: Id
  /** The secret for `webhooks.verify`. */
  secret: string
  /** The key that verifies `v1a` signatures, `whpk_...`. It may be published. */
  publicKey: string
  createdAt: Timestamp
  /** When a replaced secret stops signing; null for the current secret. */
  expiresAt: Timestamp | null
}

/** A member of the organization who belongs to a workspace. */
export type WorkspaceMember = {
  user: { id: Id; email: string; name: string }
  role: 'viewer' | 'editor'
  addedAt: Timestamp
}

/** A secret that signs the calls of one subscription. */
export type SubscriptionSecret = Omit<SigningSecret, 'workspaceId' | 'publicKey'>
