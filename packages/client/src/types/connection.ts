import type { Timestamp } from './request.ts'

/** How a connection proves who calls. */
export type ConnectionKind = 'header' | 'basic' | 'oauth2' | 'identity_token' | 'tls'

/** A connection, without its secrets. Fields of other kinds are null. */
export type Connection = {
  name: string
  kind: ConnectionKind
  /** The hosts that it may authenticate to, such as `api.example.com` or `*.example.com`. */
  hosts: string[]
  header: string | null
  username: string | null
  tokenUrl: string | null
  clientId: string | null
  clientAuthentication: 'basic' | 'post' | null
  scope: string | null
  parameters: Record<string, string> | null
  audience: string | null
  lifetimeS: number | null
  /** Authorities that are trusted in addition to the public ones, as PEM. */
  caCertificate: string | null
  /** The certificate that calls present to the target, as PEM. */
  clientCertificate: string | null
  createdAt: Timestamp
  updatedAt: Timestamp
}

type Common = {
  hosts: string[]
  caCertificate?: string | null
  clientCertificate?: string | null
  /** The private key of the client certificate, as PEM. */
  clientKey?: string
}

/** A connection to store. An omitted secret stays as it is, unless the kind, the token endpoint or a host is new. */
export type PutConnection = Common &
  (
    | { kind: 'header' /** Default `Authorization`. */; header?: string; value?: string }
    | { kind: 'basic'; username: string; password?: string }
    | {
        kind: 'oauth2'
        tokenUrl: string
        clientId: string
        clientSecret?: string
        /** HTTP Basic, or parameters in the body. Default `basic`. */
        clientAuthentication?: 'basic' | 'post'
        scope?: string | null
        /** Further parameters of the token request, such as `audience`. Their names stay unchanged. */
        parameters?: Record<string, string>
      }
    | { kind: 'identity_token'; audience: string /** 60 to 3,600. Default 300. */; lifetimeS?: number }
    | { kind: 'tls' }
  )

/** What a test of a connection has shown. */
export type ConnectionTest = {
  ok: boolean
  /** What happened, without secrets. */
  message: string
  responseStatus: number | null
}
