import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useNavigate } from 'react-router'
import { registrationQuery, signIn } from '../../api/session.ts'
import { Form } from '../../forms/form.tsx'
import { useForm } from '../../forms/use-form.ts'
import { PlainLayout } from '../../layout/plain-layout.tsx'
import { paths } from '../../paths.ts'
import { Link } from '../../ui/button.tsx'
import { Field, TextInput } from '../../ui/field.tsx'
import { useReturnPath } from './use-return-path.ts'

export function SignIn(): ReactNode {
  const navigate = useNavigate()
  const client = useQueryClient()
  const target = useReturnPath()
  const { data: registration } = useQuery(registrationQuery)
  const form = useForm({
    isSignIn: true,
    read: field => ({ email: field('email').trim(), password: field('password') }),
    check: body => ({
      ...(body.email === '' ? { email: 'Enter your email address.' } : {}),
      ...(body.password === '' ? { password: 'Enter your password.' } : {}),
    }),
    submit: signIn,
    async onDone() {
      client.clear()
      await navigate(target, { replace: true })
    },
  })
  return (
    <PlainLayout
      title="Sign in"
      foot={
        registration?.registration === 'open' && (
          <>
            New to Belfry? <Link to={paths.register(target)}>Create an account</Link>
          </>
        )
      }
    >
      <Form form={form} action="Sign in" isWide more={<Link to={paths.forgotPassword()}>Forgot your password?</Link>}>
        <Field label="Email" error={form.errors.email}>
          <TextInput name="email" type="email" autoComplete="username" autoFocus />
        </Field>
        <Field label="Password" error={form.errors.password}>
          <TextInput name="password" type="password" autoComplete="current-password" />
        </Field>
      </Form>
    </PlainLayout>
  )
}
