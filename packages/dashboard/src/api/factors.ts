import type { SignedIn } from '@belfry/contract/auth'
import type {
  AddedFactor,
  ConfirmIdentityBody,
  FactorKind,
  Passkey,
  PasskeyOptions,
  SecondFactors,
  TotpSecret,
} from '@belfry/contract/second-factor'
import { call } from './call.ts'
import { post, remove } from './operation.ts'
import { objectOptions } from './page.ts'

export type { FactorKind }

/** One proof of the identity. */
export type Proof = ConfirmIdentityBody

const base = '/api/v1/auth/factors'

export const factorsQuery = objectOptions<SecondFactors>(['factors'], base)

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
  const options = await call<PasskeyOptions>('POST', `${base}/passkeys/options`)
  const passkey = await startRegistration({ optionsJSON: options as never }) // what the contract passes on
  return call('POST', `${base}/passkeys`, { body: { name, passkey } })
}

export const removePasskey = remove('/api/v1/auth/factors/passkeys/:passkey')<void>
export const startTotp = post('/api/v1/auth/factors/totp')<TotpSecret>
export const confirmTotp = post('/api/v1/auth/factors/totp/confirm')<AddedFactor, { code: string }>
export const removeTotp = remove('/api/v1/auth/factors/totp')<void>
export const createRecoveryCodes = post('/api/v1/auth/factors/recovery-codes')<{ recovery_codes: string[] }>
