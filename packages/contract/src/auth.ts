import { roles } from '@belfry/domain'
import { z } from 'zod'
import { idField, timestampField } from './answer-fields.ts'
import { textField } from './fields.ts'
import { displayName, emailAddress, newPassword } from './text-rules.ts'

export const registerBody = z.strictObject({
  email: textField(emailAddress),
  password: textField(newPassword),
  name: textField(displayName),
})

export type RegisterBody = z.infer<typeof registerBody>

/** Deliberately undemanding: what no account can have is answered like what no account has. */
export const loginBody = z.strictObject({
  email: z.string(),
  password: z.string(),
})

export type LoginBody = z.infer<typeof loginBody>

/** As undemanding: whether there is such an account is nobody's business. */
export const forgotPasswordBody = z.strictObject({ email: z.string().max(1000) })

export type ForgotPasswordBody = z.infer<typeof forgotPasswordBody>

export const resetPasswordBody = z.strictObject({
  token: z.string().min(1).max(200).meta({ description: 'From the link in the mail.' }),
  password: textField(newPassword),
})

export type ResetPasswordBody = z.infer<typeof resetPasswordBody>

/** A new password needs the present one. */
export const updateMeBody = z
  .strictObject({
    name: textField(displayName).optional(),
    password: textField(newPassword).optional(),
    current_password: z.string().min(1).optional(),
  })
  .refine(body => body.password === undefined || body.current_password !== undefined, {
    path: ['current_password'],
    params: { code: 'required', must: 'be sent with a new password' },
  })
  .meta({ examples: [{ name: 'Ada Lovelace' }] })

export type UpdateMeBody = z.infer<typeof updateMeBody>

export const user = z
  .object({
    id: idField('user'),
    email: z.string().meta({ format: 'email', examples: ['ada@example.com'] }),
    name: z.string().meta({ examples: ['Ada Lovelace'] }),
    created_at: timestampField(),
  })
  .meta({ id: 'User' })

export type User = z.infer<typeof user>

/** The signed-in user, and the organizations that they belong to: the hundred that they joined last. */
export const me = z
  .object({
    user,
    organizations: z.array(
      z.object({
        id: idField('org'),
        name: z.string().meta({ examples: ['Acme'] }),
        slug: z.string().meta({ examples: ['acme'] }),
        role: z.enum(roles),
      }),
    ),
  })
  .meta({ id: 'Me' })

export type Me = z.infer<typeof me>

/** The answer to a registration or a login. */
export const signedIn = z
  .object({
    user,
    token: z.string().meta({
      description: 'The session token. Browsers get it as a cookie too.',
      examples: ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIuLi4ifQ.c2lnbmF0dXJl'],
    }),
    expires_at: timestampField(),
  })
  .meta({ id: 'SignedIn' })

export type SignedIn = z.infer<typeof signedIn>
