import type { AccountEntry } from '@belfry/contract/audit-entry'
import type {
  Me,
  RegisterBody,
  RegistrationRules,
  ResetPasswordBody,
  Session,
  SignedIn,
  UpdateMeBody,
} from '@belfry/contract/auth'
import { queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'
import { listOptions } from './page.ts'

export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: ({ signal }) => readMe(signal),
  staleTime: 60_000,
})

export function readMe(signal?: AbortSignal): Promise<Me> {
  return call('GET', '/api/v1/auth/me', { signal })
}

export function accountLogQuery() {
  return listOptions<AccountEntry>(['account-log'], '/api/v1/auth/log', { limit: '10' })
}

/** The file with all data about the user. */
export const accountExportUrl = '/api/v1/auth/me/export'

export function deleteMe(body: { current_password?: string }): Promise<void> {
  return call('POST', '/api/v1/auth/me/delete', { body })
}

export function sessionsQuery() {
  return listOptions<Session>(['sessions'], '/api/v1/auth/sessions')
}

export function endSession(sessionId: string): Promise<void> {
  return call('DELETE', `/api/v1/auth/sessions/${sessionId}`)
}

export function endOtherSessions(): Promise<void> {
  return call('DELETE', '/api/v1/auth/sessions')
}

export function signIn(body: { email: string; password: string }): Promise<SignedIn> {
  return call('POST', '/api/v1/auth/login', { body })
}

export function register(body: RegisterBody): Promise<SignedIn> {
  return call('POST', '/api/v1/auth/register', { body })
}

export function forgotPassword(body: { email: string }): Promise<void> {
  return call('POST', '/api/v1/auth/password/forgot', { body })
}

export function resetPassword(body: ResetPasswordBody): Promise<void> {
  return call('POST', '/api/v1/auth/password/reset', { body })
}

export function updateMe(body: UpdateMeBody): Promise<Me> {
  return call('PATCH', '/api/v1/auth/me', { body })
}

export const registrationQuery = queryOptions({
  queryKey: ['registration'],
  queryFn: ({ signal }) => call<RegistrationRules>('GET', '/api/v1/auth/register', { signal }),
})

export function confirmEmail(body: { token: string }): Promise<void> {
  return call('POST', '/api/v1/auth/email/confirm', { body })
}

export function resendConfirmation(): Promise<void> {
  return call('POST', '/api/v1/auth/email/resend')
}
