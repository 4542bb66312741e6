import { useQuery } from '@tanstack/react-query'
import { useContext, useEffect, useState } from 'react'
import { call } from '../../api/call.ts'
import { queryOf } from '../../api/queries.ts'
import { Form } from '../../forms/form.tsx'
import { NewPasswordField } from '../../forms/new-password-field.tsx'
import { PlainLayout } from '../../layout/plain-layout.tsx'
import { paths } from '../../paths.ts'
import { Link } from '../../ui/button.tsx'
import { Field, FieldErrorsContext, TextField } from '../../ui/field.tsx'
import { checkNewAccount } from './check-new-account.ts'
import { SingleSignOn } from './single-sign-on.tsx'
import { useReturn } from './use-return.ts'

export function Register() {
  const { target, open } = useReturn()
  const { data: rules } = useQuery(queryOf('getRegistration'))
  const { data: methods } = useQuery(queryOf('getSignInMethods'))
  const foot = (
    <>
      Already have an account? <Link to={paths.signIn(target)}>Sign in</Link>
    </>
  )
  if (methods?.password === false) {
    return (
      <PlainLayout title="Create account" description="Your account is created when you first sign in." foot={foot}>
        <SingleSignOn methods={methods} returnTo={target} />
      </PlainLayout>
    )
  }
  if (rules && rules.registration !== 'open') {
    return (
      <PlainLayout title="Registration is closed" foot={foot}>
        <p>
          {rules.registration === 'invite'
            ? 'Accounts are created by invitation. Ask a member of your organization to invite you.'
            : 'This installation creates no new accounts.'}
        </p>
      </PlainLayout>
    )
  }
  const domains = rules?.domains ?? []
  return (
    <PlainLayout
      title="Create account"
      description="Schedule webhooks, retry them, and see every request and response."
      foot={foot}
    >
      <Form
        read={field => ({
          email: field('email').trim(),
          password: field('password'),
          name: field('name').trim(),
          ...(rules?.check_url ? { check_token: field('check_token') } : {}),
        })}
        check={body => checkNewAccount(body)}
        submit={body => call('register', { body })}
        leaves
        onDone={open}
        action="Create account"
        isWide
      >
        <TextField label="Name" name="name" autoComplete="name" autoFocus />
        <TextField
          label="Email"
          hint={domains.length > 0 ? `An address of ${domains.join(' or ')}.` : undefined}
          name="email"
          type="email"
          autoComplete="username"
        />
        <NewPasswordField />
        {rules?.check_url && <RegistrationCheck url={rules.check_url} />}
      </Form>
    </PlainLayout>
  )
}

/** A page of the operator, such as a captcha, that posts `{ check_token }` to this window. The form sends it as a field. */
function RegistrationCheck({ url }: { url: string }) {
  const [token, setToken] = useState('')
  const { check_token: error } = useContext(FieldErrorsContext)
  useEffect(() => {
    const { origin } = new URL(url)
    const receive = ({ origin: from, data }: MessageEvent) => {
      if (from === origin && typeof data?.check_token === 'string') setToken(data.check_token)
    }
    window.addEventListener('message', receive)
    return () => window.removeEventListener('message', receive)
  }, [url])
  return (
    <>
      <Field label="Check" error={error}>
        <iframe
          src={url}
          title="Check"
          width="100%"
          height="90"
          sandbox="allow-scripts allow-same-origin allow-forms"
        />
      </Field>
      <input type="hidden" name="check_token" value={token} readOnly />
    </>
  )
}
