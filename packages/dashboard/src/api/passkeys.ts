import type { ConfirmIdentityBody, PasskeyOptions } from '@belfry/contract/second-factor'
import { type Body, call, type Result, read } from './call.ts'

export type Proof = ConfirmIdentityBody

/** Signs in with a passkey alone. */
export async function signInWithPasskey(): Promise<Result<'loginWithPasskey'>> {
  const { passkey } = await askPasskey(await read('passkeyLoginOptions', { body: {} }))
  return call('loginWithPasskey', { body: { passkey } })
}

export async function passkeyForSignIn(token: string): Promise<Proof> {
  return askPasskey(await read('passkeyLoginOptions', { body: { sign_in_token: token } }))
}

export async function passkeyForConfirmation(): Promise<Proof> {
  return askPasskey(await read('confirmIdentityOptions'))
}

// The library is loaded when a user chooses a passkey.
async function askPasskey(options: PasskeyOptions): Promise<Body<'loginWithPasskey'>> {
  const { startAuthentication } = await import('@simplewebauthn/browser')
  const passkey = await startAuthentication({ optionsJSON: options as never }) // what the contract passes on from it
  return { passkey } as never // and back to it
}

export async function addPasskey(name: string): Promise<Result<'addPasskey'>> {
  const options = await read('passkeyEnrolmentOptions')
  const { startRegistration } = await import('@simplewebauthn/browser')
  const passkey = await startRegistration({ optionsJSON: options as never }) // what the contract passes on
  return call('addPasskey', { body: { name, passkey: passkey as never } })
}
