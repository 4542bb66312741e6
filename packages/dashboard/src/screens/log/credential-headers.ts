// The "tokens" in the rate limit headers of AI providers are not secrets.
const credential = /cookie|authorization|credential|password|secret|session|api-?key|token(?!s)/i

/** Returns whether the value of a header may let its holder act for another, e.g. a session or a token. */
export function isCredentialHeader(name: string): boolean {
  return credential.test(name)
}
