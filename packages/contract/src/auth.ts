import { z } from 'zod'
import { textField } from './fields.ts'
import { emailAddress, line, newPassword } from './text-rules.ts'

export const registerBody = z.strictObject({
  email: textField(emailAddress),
  password: textField(newPassword),
  name: textField(line(200)),
})

export type RegisterBody = z.infer<typeof registerBody>

/** Deliberately undemanding: what no account can have is answered like what no account has. */
export const loginBody = z.strictObject({
  email: z.string(),
  password: z.string(),
})

export type LoginBody = z.infer<typeof loginBody>

export type User = {
  id: string
  email: string
  name: string
  created_at: string
}

/** The answer to a registration or a login. */
export type SignedIn = {
  user: User
  /** The session token; browsers get it as a cookie too. */
  token: string
  expires_at: string
}
