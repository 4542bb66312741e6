import { operation } from '../operation.ts'
import {
  addedFactor,
  confirmIdentityBody,
  confirmTotpBody,
  createPasskeyBody,
  newPasskey,
  passkeyOptions,
  recoveryCodes,
  secondFactors,
  totpSecret,
} from '../second-factor.ts'

export const secondFactorsOperations = {
  confirmIdentity: operation('POST', '/api/v1/auth/confirm', {
    right: 'signed_in',
    summary: 'Confirm the identity of the user for ten minutes',
    body: confirmIdentityBody,
    answer: { status: 204 },
    refusals: ['password_login_off'],
  }),

  confirmIdentityOptions: operation('POST', '/api/v1/auth/confirm/options', {
    right: 'signed_in',
    summary: 'Get the options for confirming the identity of the user with a passkey',
    answer: { status: 200, body: passkeyOptions },
  }),

  listFactors: operation('GET', '/api/v1/auth/factors', {
    right: 'signed_in',
    summary: 'List the second factors of the user',
    answer: { status: 200, body: secondFactors },
  }),

  addPasskey: operation('POST', '/api/v1/auth/factors/passkeys', {
    right: 'signed_in',
    summary: 'Add a passkey; the first second factor ends all other sessions of the user',
    body: createPasskeyBody,
    answer: { status: 201, body: newPasskey },
    refusals: ['step_up_required', 'conflict'],
  }),

  passkeyEnrolmentOptions: operation('POST', '/api/v1/auth/factors/passkeys/options', {
    right: 'signed_in',
    summary: 'Get the options for making a passkey',
    answer: { status: 200, body: passkeyOptions },
    refusals: ['step_up_required'],
  }),

  removePasskey: operation('DELETE', '/api/v1/auth/factors/passkeys/:passkey', {
    right: 'signed_in',
    summary: 'Remove a passkey; with the last factor the recovery codes go too',
    answer: { status: 204 },
    refusals: ['step_up_required'],
  }),

  startTotp: operation('POST', '/api/v1/auth/factors/totp', {
    right: 'signed_in',
    summary: 'Make the secret of an authenticator app, which its first code confirms',
    answer: { status: 200, body: totpSecret },
    refusals: ['step_up_required', 'conflict'],
  }),

  removeTotp: operation('DELETE', '/api/v1/auth/factors/totp', {
    right: 'signed_in',
    summary: 'Remove the authenticator app; with the last factor the recovery codes go too',
    answer: { status: 204 },
    refusals: ['step_up_required', 'not_found'],
  }),

  confirmTotp: operation('POST', '/api/v1/auth/factors/totp/confirm', {
    right: 'signed_in',
    summary: 'Add an authenticator app by its first code; the first factor ends other sessions',
    body: confirmTotpBody,
    answer: { status: 200, body: addedFactor },
    refusals: ['step_up_required'],
  }),

  createRecoveryCodes: operation('POST', '/api/v1/auth/factors/recovery-codes', {
    right: 'signed_in',
    summary: 'Make new recovery codes; the previous ones no longer work',
    answer: { status: 200, body: recoveryCodes },
    refusals: ['step_up_required', 'conflict'],
  }),
}
