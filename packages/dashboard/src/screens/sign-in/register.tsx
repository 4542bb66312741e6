import { useQueryClient } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useNavigate, useSearchParams } from 'react-router'
import { register } from '../../api/session.ts'
import { Form } from '../../forms/form.tsx'
import { useForm } from '../../forms/use-form.ts'
import { PlainLayout } from '../../layout/plain-layout.tsx'
import { paths, returnPath } from '../../paths.ts'
import { Link } from '../../ui/button.tsx'
import { Field, TextInput } from '../../ui/field.tsx'
import { checkNewAccount } from './check-new-account.ts'

export function Register(): ReactNode {
  const navigate = useNavigate()
  const client = useQueryClient()
  const [params] = useSearchParams()
  const form = useForm({
    read: field => ({ email: field('email').trim(), password: field('password'), name: field('name').trim() }),
    check: checkNewAccount,
    submit: register,
    async onDone() {
      client.clear()
      await navigate(returnPath(params.get('return')), { replace: true })
    },
  })
  return (
    <PlainLayout
      title="Create account"
      description="Schedule webhooks, retry them, and see every request and response."
      foot={
        <>
          Already have an account? <Link to={paths.signIn()}>Sign in</Link>
        </>
      }
    >
      <Form form={form} action="Create account" isWide>
        <Field label="Name" error={form.errors.name}>
          <TextInput name="name" autoComplete="name" autoFocus />
        </Field>
        <Field label="Email" error={form.errors.email}>
          <TextInput name="email" type="email" autoComplete="username" />
        </Field>
        <Field label="Password" hint="At least 12 characters." error={form.errors.password}>
          <TextInput name="password" type="password" autoComplete="new-password" />
        </Field>
      </Form>
    </PlainLayout>
  )
}
