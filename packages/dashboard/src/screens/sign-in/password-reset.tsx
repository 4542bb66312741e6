import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation, useNavigate } from 'react-router'
import { call } from '../../api/call.ts'
import { queryOf } from '../../api/queries.ts'
import { Form } from '../../forms/form.tsx'
import { checkNewPassword, NewPasswordField } from '../../forms/new-password-field.tsx'
import { PlainLayout } from '../../layout/plain-layout.tsx'
import { paths } from '../../paths.ts'
import { Link } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'

export function ForgotPassword() {
  const [sentTo, setSentTo] = useState<string | null>(null)
  const { data: methods } = useQuery(queryOf('getSignInMethods'))
  const foot = <Link to={paths.signIn()}>Back to sign in</Link>
  if (methods?.password === false) {
    return (
      <PlainLayout title="There are no passwords here" foot={foot}>
        <p>Users of this installation sign in with {methods.oidc?.name ?? 'single sign-on'}.</p>
      </PlainLayout>
    )
  }
  if (sentTo !== null) {
    return (
      <PlainLayout title="Check your email" foot={foot}>
        <p role="status">If {sentTo} has an account, we sent it a link. The link works once, within one hour.</p>
      </PlainLayout>
    )
  }
  return (
    <PlainLayout title="Forgot your password?" description="We will email you a link to choose a new one." foot={foot}>
      <Form
        read={field => ({ email: field('email').trim() })}
        check={body => ({ email: body.email === '' && 'Enter your email address.' })}
        submit={body => call('forgotPassword', { body })}
        onDone={(_result, body) => setSentTo(body.email)}
        action="Send link"
        isWide
      >
        <TextField label="Email" name="email" type="email" autoComplete="username" autoFocus />
      </Form>
    </PlainLayout>
  )
}

export function ResetPassword() {
  const token = useLocation().hash.slice(1)
  const navigate = useNavigate()
  return (
    <PlainLayout title="Choose a new password" foot={<Link to={paths.forgotPassword()}>Request a new link</Link>}>
      <Form
        read={field => ({ token, password: field('password') })}
        check={({ password }) => ({ password: checkNewPassword(password) })}
        submit={body => call('resetPassword', { body })}
        onDone={() => navigate(paths.signIn(), { replace: true })}
        done="Password changed. All sessions are signed out. Sign in with your new password."
        action="Change password"
        isWide
      >
        <NewPasswordField label="New password" autoFocus />
      </Form>
    </PlainLayout>
  )
}
