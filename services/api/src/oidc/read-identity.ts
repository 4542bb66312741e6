import type { SignInError } from '@belfry/contract/sign-in'
import type { IDToken, UserInfoResponse } from 'openid-client'
import type { OidcSettings } from './settings.ts'

/** A user as the issuer describes them. */
export type Identity = {
  issuer: string
  subject: string
  /** Lower case, and verified. */
  email: string
  name: string
  groups: readonly string[]
  /** Whether the issuer says that it has checked several factors. */
  hasSecondFactor: boolean
}

/**
 * Reads who signs in. Claims of the ID token take precedence over claims of the user info endpoint.
 * @throws OidcSignInError unless the issuer vouches for an address of an allowed domain.
 */
export function readIdentity(settings: OidcSettings, token: IDToken, info: UserInfoResponse | null): Identity {
  const claims: Record<string, unknown> = { ...info, ...token }
  const given = typeof claims.email === 'string' ? claims.email.trim() : ''
  // ASCII letters only: other letters may become another address, e.g. the Kelvin sign becomes "k".
  const email = given.replace(/[A-Z]+/g, letters => letters.toLowerCase())
  if (!/^[!-?A-~]+@[!-?A-~]+$/.test(email) || email.length > maxEmailLength) {
    throw new OidcSignInError('email_missing', 'The issuer sent no email address.')
  }
  // Of one source: another one's word would be about another address.
  const { email_verified: verified } = 'email' in token ? token : { ...info }
  if (!isVerified(verified, settings)) {
    throw new OidcSignInError('email_unverified', 'The issuer does not say that the email address is verified.')
  }
  const domain = email.slice(email.lastIndexOf('@') + 1)
  if (settings.domains.length > 0 && !settings.domains.includes(domain)) {
    throw new OidcSignInError('domain_refused', 'The domain of the email address is not in OIDC_DOMAINS.')
  }
  return {
    issuer: token.iss,
    subject: token.sub,
    email,
    name: nameOf(claims, email),
    groups: settings.groupRoles.length > 0 ? groupsOf(settings, claims) : [],
    // https://www.rfc-editor.org/rfc/rfc8176#section-2
    hasSecondFactor: Array.isArray(token.amr) && token.amr.includes('mfa'),
  }
}

const maxEmailLength = 254
const maxNameLength = 100

// Some issuers send the boolean as a text.
function isVerified(verified: unknown, { trustsEmail }: OidcSettings): boolean {
  return verified === undefined ? trustsEmail : verified === true || verified === 'true'
}

function nameOf({ name, preferred_username: username }: Record<string, unknown>, email: string): string {
  const texts = [name, username].filter(text => typeof text === 'string').map(clean)
  return texts.find(text => text !== '') ?? email.slice(0, maxNameLength)
}

function clean(text: string): string {
  return text.replace(/\p{C}/gu, '').trim().slice(0, maxNameLength)
}

// A user without groups has no rights. An issuer that leaves groups out because there are too many has not said that.
function groupsOf({ groupsClaim }: OidcSettings, claims: Record<string, unknown>): string[] {
  const elsewhere = claims._claim_names
  if (typeof elsewhere === 'object' && elsewhere !== null && groupsClaim in elsewhere) {
    throw new OidcSignInError('groups_missing', 'The issuer left out the groups, because the user is in too many.')
  }
  return [claims[groupsClaim] ?? []].flat().filter(group => typeof group === 'string')
}

/** A sign-in through the issuer that failed. The page shows the code in its own words; the message is for the log. */
export class OidcSignInError extends Error {
  readonly code: SignInError

  constructor(code: SignInError, message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'OidcSignInError'
    this.code = code
  }
}
