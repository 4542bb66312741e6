import type { FieldErrors } from '../../forms/use-form.ts'

/** Checks the fields of a new account before they are submitted. */
export function checkNewAccount(body: { name?: string; email?: string; password: string }): FieldErrors {
  return {
    ...(body.name === '' ? { name: 'Enter your name.' } : {}),
    ...(body.email !== undefined && !/.@./.test(body.email) ? { email: 'Enter an email address.' } : {}),
    ...(body.password.length < 12 ? { password: 'Use at least 12 characters.' } : {}),
  }
}
