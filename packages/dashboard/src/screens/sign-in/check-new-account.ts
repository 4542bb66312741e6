import { checkNewPassword } from '../../forms/new-password-field.tsx'

export function checkNewAccount({ name, email, password }: { name?: string; email?: string; password: string }) {
  return {
    name: name === '' && 'Enter your name.',
    email: email !== undefined && !/.@./.test(email) && 'Enter an email address.',
    password: checkNewPassword(password),
  }
}
