/** How a connection proves who calls. */
export type ConnectionKind = 'header' | 'basic' | 'oauth2' | 'identity_token' | 'tls'

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
    | {
        kind: 'header'
        /** Default `Authorization`. */
        header?: string
        value?: string
      }
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
    | {
        kind: 'identity_token'
        audience: string
        /** 60 to 3,600. Default 300. */
        lifetimeS?: number
      }
    | { kind: 'tls' }
  )
