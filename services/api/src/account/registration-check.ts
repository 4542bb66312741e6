import { AppError } from '@belfry/domain/app-error'
import type { Context } from '../context.ts'
import { invalid } from '../http/refusals.ts'

const timeoutMs = 5_000

/**
 * Asks REGISTRATION_CHECK_URL whether a registration is allowed; without that variable each is.
 * @throws AppError `validation_failed` when it refuses, `unavailable` when it does not answer.
 */
export async function requireCheckedRegistration(
  { config: { registrationCheckUrl: url }, log }: Context,
  registration: { token: string | null; email: string; address: string },
): Promise<void> {
  if (url === null) return
  // biome-ignore lint/style/noRestrictedGlobals: only the operator chooses this URL, and no target answers it
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(registration),
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  }).catch((cause: unknown) => cause)
  if (response instanceof Response) {
    await response.body?.cancel()
    if (response.ok) return
    if (response.status < 500) {
      const message = 'The check of this registration failed. Repeat it.'
      throw invalid('body', [{ path: 'check_token', code: 'invalid_token', message }])
    }
  }
  log.warn({ err: response instanceof Response ? undefined : response }, 'registration.check_unavailable')
  throw new AppError('unavailable', 'Registrations cannot be checked at the moment. Try again later.')
}
