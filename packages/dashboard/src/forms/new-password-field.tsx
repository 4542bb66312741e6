import { TextField } from '../ui/field.tsx'

const minLength = 12

/** The field for the password of a new account, or for a new one. */
export function NewPasswordField({ label = 'Password', autoFocus = false }) {
  return (
    <TextField
      label={label}
      hint={`At least ${minLength} characters.`}
      name="password"
      type="password"
      autoComplete="new-password"
      autoFocus={autoFocus}
    />
  )
}

export function checkNewPassword(password: string): string | false {
  return password.length < minLength && `Use at least ${minLength} characters.`
}
