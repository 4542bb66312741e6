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
import type {
  AcceptedInvitation,
  CreateInvitationBody,
  Invitation,
  InvitationPreview,
} from '@belfry/contract/invitation'
import type {
  AddedFactor,
  ConfirmIdentityBody,
  FactorKind,
  Passkey,
  PasskeyOptions,
  SecondFactors,
  TotpSecret,
} from '@belfry/contract/second-factor'
import type { OidcLogout, OidcStart, SignInMethods } from '@belfry/contract/sign-in'
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

export const signInMethodsQuery = objectOptions<SignInMethods>(['sign-in-methods'], '/api/v1/auth/methods')

/** Begins a sign-in through the issuer, and returns the address of its page. */
export const startOidc = post('/api/v1/auth/oidc/start')<OidcStart, { return_to: string }>

/** Ends the session. Returns where the browser signs out of the issuer, if it has to. */
export const signOut = post('/api/v1/auth/oidc/logout')<OidcLogout>

export type { FactorKind }

/** One proof of the identity. */
export type Proof = ConfirmIdentityBody

const factorsPath = '/api/v1/auth/factors'

export const factorsQuery = objectOptions<SecondFactors>(['factors'], factorsPath)

export function signInWithFactor(token: string, proof: Proof): Promise<SignedIn> {
  return call('POST', '/api/v1/auth/login/factor', { body: { sign_in_token: token, ...proof } })
}

/** Signs in with a passkey alone. */
export async function signInWithPasskey(): Promise<SignedIn> {
  const passkey = await askPasskey('/api/v1/auth/login/passkey/options', {})
  return call('POST', '/api/v1/auth/login/passkey', { body: { passkey } })
}

export function passkeyForSignIn(token: string): Promise<Proof> {
  return proofByPasskey('/api/v1/auth/login/passkey/options', { sign_in_token: token })
}

export function passkeyForConfirmation(): Promise<Proof> {
  return proofByPasskey('/api/v1/auth/confirm/options')
}

export const confirmIdentity = post('/api/v1/auth/confirm')<void, Proof>

async function proofByPasskey(path: string, body?: object): Promise<Proof> {
  return { passkey: (await askPasskey(path, body)) as Proof['passkey'] }
}

// The library is loaded when a user chooses a passkey.
async function askPasskey(path: string, body?: object): Promise<unknown> {
  const { startAuthentication } = await import('@simplewebauthn/browser')
  const options = await call<PasskeyOptions>('POST', path, { body })
  return startAuthentication({ optionsJSON: options as never }) // what the contract passes on from the same library
}

export async function addPasskey(name: string): Promise<Passkey & AddedFactor> {
  const { startRegistration } = await import('@simplewebauthn/browser')
  const options = await call<PasskeyOptions>('POST', `${factorsPath}/passkeys/options`)
  const passkey = await startRegistration({ optionsJSON: options as never }) // what the contract passes on
  return call('POST', `${factorsPath}/passkeys`, { body: { name, passkey } })
}

export const removePasskey = remove('/api/v1/auth/factors/passkeys/:passkey')<void>
export const startTotp = post('/api/v1/auth/factors/totp')<TotpSecret>
export const confirmTotp = post('/api/v1/auth/factors/totp/confirm')<AddedFactor, { code: string }>
export const removeTotp = remove('/api/v1/auth/factors/totp')<void>
export const createRecoveryCodes = post('/api/v1/auth/factors/recovery-codes')<{ recovery_codes: string[] }>

export function invitationPreviewQuery(token: string) {
  return queryOptions({
    queryKey: ['invitation', token],
    queryFn: ({ signal }) =>
      call<InvitationPreview>('POST', '/api/v1/invitations/preview', { body: { token }, signal }),
    retry: false,
  })
}

/** Accepts as the signed-in user. With a name and a password it creates the account first. */
export const acceptInvitation = post('/api/v1/invitations/accept')<
  AcceptedInvitation,
  { token: string; name?: string; password?: string }
>

export function invitationsQuery(orgId: string) {
  return listOptions<Invitation>(['invitations', orgId], `/api/v1/organizations/${orgId}/invitations`)
}

export const createInvitation = post('/api/v1/organizations/:org/invitations')<Invitation, CreateInvitationBody>
export const resendInvitation = post('/api/v1/organizations/:org/invitations/:inv/resend')<Invitation>
export const revokeInvitation = remove('/api/v1/organizations/:org/invitations/:inv')<void>
