import type { ReactNode } from 'react'
import { useLocation, useNavigate } from 'react-router'
import { resetPassword } from '../../api/account.ts'
import { Form } from '../../forms/form.tsx'
import { useForm } from '../../forms/use-form.ts'
import { PlainLayout } from '../../layout/plain-layout.tsx'
import { paths } from '../../paths.ts'
import { Link } from '../../ui/button.tsx'
import { Field, TextInput } from '../../ui/field.tsx'
import { useToast } from '../../ui/toast.tsx'
import { checkNewAccount } from './check-new-account.ts'

export function ResetPassword(): ReactNode {
  const token = useLocation().hash.slice(1)
  const navigate = useNavigate()
  const toast = useToast()
  const form = useForm({
    read: field => ({ token, password: field('password') }),
    check: ({ password }) => checkNewAccount({ password }),
    submit: resetPassword,
    async onDone() {
      toast('Password changed. All sessions are signed out. Sign in with your new password.')
      await navigate(paths.signIn(), { replace: true })
    },
  })
  return (
    <PlainLayout title="Choose a new password" foot={<Link to={paths.forgotPassword()}>Request a new link</Link>}>
      <Form form={form} action="Change password" isWide>
        <Field label="New password" hint="At least 12 characters." error={form.errors.password}>
          <TextInput name="password" type="password" autoComplete="new-password" autoFocus />
        </Field>
      </Form>
    </PlainLayout>
  )
}
