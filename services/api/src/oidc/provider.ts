import type { Logger } from '@belfry/runtime'
import * as client from 'openid-client'
import type { OidcSettings } from './settings.ts'

export type OidcProvider = ReturnType<typeof openOidcProvider>

const timeoutS = 5
const freshMs = 3_600_000
const retryMs = 5_000

/** Creates the provider, and reads the metadata of the issuer in the background. */
export function openOidcProvider(settings: OidcSettings, log: Logger) {
  let known: { client: client.Configuration; atMs: number } | null = null
  let failed: { error: Error; atMs: number } | null = null
  let asking: Promise<client.Configuration> | null = null

  async function ask(): Promise<client.Configuration> {
    try {
      const found = await discover(settings)
      known = { client: found, atMs: performance.now() }
      failed = null
      return found
    } catch (cause) {
      const error = new Error(describe(settings, cause), { cause })
      failed = { error, atMs: performance.now() }
      log.warn({ err: error, issuer: settings.issuer.href }, 'oidc.unavailable')
      throw error
    } finally {
      asking = null
    }
  }

  const provider = {
    settings,
    /**
     * Returns the client of the issuer. Reads the issuer's metadata at most once an hour.
     * @throws Error when the issuer cannot be reached, or its metadata are wrong.
     */
    async client(): Promise<client.Configuration> {
      const now = performance.now()
      if (known && now - known.atMs < freshMs) return known.client
      if (failed && now - failed.atMs < retryMs) {
        if (known) return known.client
        throw failed.error
      }
      asking ??= ask()
      // If the issuer is down, use the old metadata.
      return known ? asking.catch(() => known?.client ?? Promise.reject(failed?.error)) : asking
    },
    /** Returns why the issuer cannot be used at the moment; null when it can, or has not been asked. */
    problem: () => failed?.error.message ?? null,
  }
  provider.client().catch(() => {}) // logged above, and asked again at the next sign-in
  return provider
}

function discover({ issuer, clientId, clientSecret }: OidcSettings): Promise<client.Configuration> {
  const execute = [client.enableNonRepudiationChecks]
  if (issuer.protocol === 'http:') execute.push(client.allowInsecureRequests)
  return client.discovery(issuer, clientId, {}, authenticationBy(clientSecret), { execute, timeout: timeoutS })
}

// Basic is what an issuer supports that does not say.
function authenticationBy(secret: string | null): client.ClientAuth {
  if (secret === null) return client.None()
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    const authenticate = methods.includes('client_secret_basic')
      ? client.ClientSecretBasic(secret)
      : client.ClientSecretPost(secret)
    return authenticate(server, ...rest)
  }
}

// For operators. Never quotes a response of the issuer, because it may contain anything.
function describe({ issuer }: OidcSettings, cause: unknown): string {
  const { code, cause: inner } = cause as { code?: string; cause?: { code?: string } }
  const what =
    code === 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED'
      ? 'names another issuer in its metadata'
      : `does not answer at /.well-known/openid-configuration (${inner?.code ?? code ?? 'unknown error'})`
  return `OIDC_ISSUER ${issuer.href} ${what}.`
}
