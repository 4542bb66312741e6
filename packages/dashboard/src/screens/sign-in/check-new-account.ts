/** Checks the fields of a new account before they are submitted. */
export function checkNewAccount({ name, email, password }: { name?: string; email?: string; password: string }) {
  return {
    name: name === '' && 'Enter your name.',
    email: email !== undefined && !/.@./.test(email) && 'Enter an email address.',
    password: password.length < 12 && 'Use at least 12 characters.',
  }
}
