import type { FieldErrors } from '../../forms/use-form.ts'

/** What can be said about a new account before the API is asked. */
export function checkNewAccount(body: { name?: string; email?: string; password: string }): FieldErrors {
  return {
    ...(body.name === '' ? { name: 'Type in your name.' } : {}),
    ...(body.email !== undefined && !/.@./.test(body.email) ? { email: 'Type in an e-mail address.' } : {}),
    ...(body.password.length < 12 ? { password: 'A password has at least 12 characters.' } : {}),
  }
}
