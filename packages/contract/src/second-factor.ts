import { z } from 'zod'
import { textField } from './fields.ts'
import { namedObject } from './objects.ts'
import { operation } from './operation.ts'
import { idField, orNull, shownText, shownTexts, timestampField } from './response-fields.ts'
import { displayName } from './text-rules.ts'

/** The ways in which a user can confirm the identity. */
export type FactorKind = 'passkey' | 'totp' | 'recovery_code' | 'password'

// Long enough for the attestation of any authenticator.
const base64url = z.string().min(1).max(16_384)

const credential = {
  id: base64url.meta({ description: 'The id of the credential, in base64url.' }),
  rawId: base64url.meta({ description: 'The id of the credential again, in base64url.' }),
  type: z.literal('public-key').meta({ description: 'Always `public-key`.' }),
  authenticatorAttachment: z.enum(['platform', 'cross-platform']).nullable().optional(),
  clientExtensionResults: z.looseObject({}).optional(),
}

const exampleCredential = { id: 'cGFzc2tleQ', rawId: 'cGFzc2tleQ', type: 'public-key' }

/** The answer of an authenticator to a challenge: `PublicKeyCredential.toJSON()`. */
const assertion = z
  .looseObject({
    ...credential,
    response: z.looseObject({
      clientDataJSON: base64url,
      authenticatorData: base64url.meta({ description: 'The data of the authenticator, in base64url.' }),
      signature: base64url.meta({ description: 'The signature of both, in base64url.' }),
      userHandle: z.string().max(200).nullable().optional(),
    }),
  })
  .meta({
    description: 'The `PublicKeyCredential` that `navigator.credentials.get` returned, as JSON.',
    examples: [{ ...exampleCredential, response: { clientDataJSON: 'e30', authenticatorData: 'AA', signature: 'AA' } }],
  })

export type PasskeyAssertion = z.infer<typeof assertion>

/** The answer of an authenticator that has made a passkey. */
const attestation = z
  .looseObject({
    ...credential,
    response: z.looseObject({
      clientDataJSON: base64url,
      attestationObject: base64url.meta({ description: 'The new public key with its attestation, in base64url.' }),
      transports: z.array(z.string().max(50)).max(20).optional(),
    }),
  })
  .meta({
    description: 'The `PublicKeyCredential` that `navigator.credentials.create` returned, as JSON.',
    examples: [{ ...exampleCredential, response: { clientDataJSON: 'e30', attestationObject: 'AA' } }],
  })

const code = z
  .string()
  .max(40)
  .optional()
  .meta({ description: 'The code that the authenticator app shows.', examples: ['123456'] })

const recoveryCode = z
  .string()
  .max(80)
  .optional()
  .meta({ examples: ['k7wq-m3xp-9rtd-2vfa'] })

/** Refuses a body without a proof, and one with several. */
function requireOneProof(values: readonly unknown[], field: string, ctx: z.RefinementCtx): void {
  const given = values.filter(value => value !== undefined).length
  if (given === 1) return
  const params =
    given === 0
      ? { code: 'required', must: 'be given, or another proof' }
      : { code: 'conflicting_fields', must: 'be the only proof' }
  ctx.addIssue({ code: 'custom', path: [field], params })
}

const token = z.string().min(1).max(200).meta({ description: 'The `sign_in_token` of the refused login.' })

/** Exactly one proof continues a sign-in whose password was right. */
export const loginFactorBody = z
  .strictObject({ sign_in_token: token, code, recovery_code: recoveryCode, passkey: assertion.optional() })
  .superRefine((body, ctx) => requireOneProof([body.code, body.recovery_code, body.passkey], 'code', ctx))
  .meta({ examples: [{ sign_in_token: 'tGVzdA', code: '123456' }] })

/** With a `sign_in_token`: for the second factor. Without one: for a sign-in by a passkey alone. */
export const passkeyLoginOptionsBody = z.strictObject({ sign_in_token: token.optional() })

export const passkeyLoginBody = z.strictObject({ passkey: assertion })

/** Exactly one proof. The password counts only while the user has no second factor. */
const confirmIdentityBody = z
  .strictObject({
    password: z.string().max(1000).optional(),
    code,
    recovery_code: recoveryCode,
    passkey: assertion.optional(),
  })
  .superRefine((body, ctx) => {
    requireOneProof([body.password, body.code, body.recovery_code, body.passkey], 'password', ctx)
  })
  .meta({ examples: [{ code: '123456' }] })

export type ConfirmIdentityBody = z.infer<typeof confirmIdentityBody>

/** The options of `navigator.credentials.get` or `create`, as JSON. */
export const passkeyOptions = z
  .looseObject({
    challenge: shownText('The challenge that the authenticator signs.', 'cmFuZG9tIGJ5dGVz'),
  })
  .meta({ id: 'PasskeyOptions' })

export type PasskeyOptions = z.infer<typeof passkeyOptions>

const createPasskeyBody = z.strictObject({ name: textField(displayName), passkey: attestation })

export type CreatePasskeyBody = z.infer<typeof createPasskeyBody>

const passkey = namedObject('Passkey', {
  id: idField('pk'),
  name: z.string().meta({ examples: ['Laptop'] }),
  created_at: timestampField(),
  last_used_at: timestampField().nullable(),
})

const recoveryCodeList = shownTexts('Each works once. They are shown only now.', ['k7wq-m3xp-9rtd-2vfa'])

const firstCodes = recoveryCodeList
  .nullable()
  .meta({ description: 'New recovery codes with the first factor. Each works once, and they are shown only now.' })

const addedFactor = namedObject('AddedFactor', { recovery_codes: firstCodes })

export type AddedFactor = z.infer<typeof addedFactor>

export const secondFactors = namedObject('SecondFactors', {
  passkeys: z.array(passkey).meta({ description: 'The passkeys of the user.' }),
  totp: orNull(z.object({ created_at: timestampField() }), {
    description: 'The authenticator app, if there is one.',
  }),
  recovery_codes_left: z.int().meta({ examples: [10], description: 'The recovery codes that were not used yet.' }),
})

export type SecondFactors = z.infer<typeof secondFactors>

export const secondFactorsOperations = {
  confirmIdentity: operation('POST', '/api/v1/auth/confirm', {
    right: 'signed_in',
    summary: 'Confirm the identity of the user for ten minutes',
    body: confirmIdentityBody,
    errors: ['password_login_off'],
  }),

  confirmIdentityOptions: operation('POST', '/api/v1/auth/confirm/options', {
    right: 'signed_in',
    summary: 'Get the options for confirming the identity of the user with a passkey',
    response: { status: 200, body: passkeyOptions },
  }),

  listFactors: operation('GET', '/api/v1/auth/factors', {
    right: 'signed_in',
    summary: 'List the second factors of the user',
    response: { status: 200, body: secondFactors },
  }),

  addPasskey: operation('POST', '/api/v1/auth/factors/passkeys', {
    right: 'signed_in',
    summary: 'Add a passkey; the first second factor ends all other sessions of the user',
    body: createPasskeyBody,
    response: { status: 201, body: passkey.extend({ recovery_codes: firstCodes }).meta({ id: 'NewPasskey' }) },
    errors: ['step_up_required', 'conflict'],
  }),

  passkeyEnrolmentOptions: operation('POST', '/api/v1/auth/factors/passkeys/options', {
    right: 'signed_in',
    summary: 'Get the options for making a passkey',
    response: { status: 200, body: passkeyOptions },
    errors: ['step_up_required'],
  }),

  removePasskey: operation('DELETE', '/api/v1/auth/factors/passkeys/:passkey', {
    right: 'signed_in',
    summary: 'Remove a passkey; with the last factor the recovery codes go too',
    errors: ['step_up_required'],
  }),

  startTotp: operation('POST', '/api/v1/auth/factors/totp', {
    right: 'signed_in',
    summary: 'Make the secret of an authenticator app, which its first code confirms',
    response: {
      status: 200,
      body: namedObject('TotpSecret', {
        secret: shownText('In base32, for typing.', 'JBSWY3DPEHPK3PXP'),
        uri: shownText(
          'For the QR code.',
          'otpauth://totp/Belfry:ada%40example.com?issuer=Belfry&secret=JBSWY3DPEHPK3PXP',
        ),
      }),
    },
    errors: ['step_up_required', 'conflict'],
  }),

  removeTotp: operation('DELETE', '/api/v1/auth/factors/totp', {
    right: 'signed_in',
    summary: 'Remove the authenticator app; with the last factor the recovery codes go too',
    errors: ['step_up_required', 'not_found'],
  }),

  confirmTotp: operation('POST', '/api/v1/auth/factors/totp/confirm', {
    right: 'signed_in',
    summary: 'Add an authenticator app by its first code; the first factor ends other sessions',
    body: z.strictObject({
      code: z
        .string()
        .max(40)
        .meta({ examples: ['123456'] }),
    }),
    response: { status: 200, body: addedFactor },
    errors: ['step_up_required'],
  }),

  createRecoveryCodes: operation('POST', '/api/v1/auth/factors/recovery-codes', {
    right: 'signed_in',
    summary: 'Make new recovery codes; the previous ones no longer work',
    response: { status: 200, body: namedObject('RecoveryCodes', { recovery_codes: recoveryCodeList }) },
    errors: ['step_up_required', 'conflict'],
  }),
}
