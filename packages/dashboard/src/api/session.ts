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
import { patch, post, remove } from './operation.ts'
import { listOptions, objectOptions } from './page.ts'

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

export const deleteMe = post('/api/v1/auth/me/delete')<void, { current_password?: string }>

export function sessionsQuery() {
  return listOptions<Session>(['sessions'], '/api/v1/auth/sessions')
}

export const registrationQuery = objectOptions<RegistrationRules>(['registration'], '/api/v1/auth/register')

export const endSession = remove('/api/v1/auth/sessions/:session')<void>
export const endOtherSessions = remove('/api/v1/auth/sessions')<void>
export const signIn = post('/api/v1/auth/login')<SignedIn, { email: string; password: string }>
export const register = post('/api/v1/auth/register')<SignedIn, RegisterBody>
export const forgotPassword = post('/api/v1/auth/password/forgot')<void, { email: string }>
export const resetPassword = post('/api/v1/auth/password/reset')<void, ResetPasswordBody>
export const updateMe = patch('/api/v1/auth/me')<Me, UpdateMeBody>
export const confirmEmail = post('/api/v1/auth/email/confirm')<void, { token: string }>
export const resendConfirmation = post('/api/v1/auth/email/resend')<void>
