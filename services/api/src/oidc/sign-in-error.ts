import type { SignInError } from '@belfry/contract/sign-in'

/** A sign-in through the issuer that failed. The page shows the code in its own words; the message is for the log. */
export class OidcSignInError extends Error {
  readonly code: SignInError

  constructor(code: SignInError, message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'OidcSignInError'
    this.code = code
  }
}
